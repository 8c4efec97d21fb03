"""States of a capture."""

from enum import StrEnum


class CaptureState(StrEnum):
    queued = "queued"
    analysing = "analysing"
    done = "done"
    failed = "failed"


OPEN = (CaptureState.queued, CaptureState.analysing)
"""The replica that got the file still has it."""
