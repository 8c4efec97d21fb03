"""What a message about a finding changed."""

from enum import StrEnum


class Applied(StrEnum):
    """What a message changed."""

    opened = "opened"
    joined = "joined"
    reopened = "reopened"
    refreshed = "refreshed"
    cleared = "cleared"
    repeated = "repeated"
    unknown = "unknown"  # the end of a finding whose start never arrived
