"""How far to trust a forecast, in three words that need no statistics: by what its model has learnt from."""

from __future__ import annotations

from enum import StrEnum


class Confidence(StrEnum):
    """From what a forecast was learnt."""

    LOW = "low"
    """From nothing of use: a cold start, or a model whose fleet has changed since training (drift)."""
    MEDIUM = "medium"
    """From simulated fleets: the base model."""
    HIGH = "high"
    """From this fleet."""


def confidence_of(trained: bool, base: bool, drifted: bool) -> Confidence:
    """The confidence in forecasts of a model.

    >>> [confidence_of(*case).value for case in ((False, False, False), (True, True, False), (True, False, True), (True, False, False))]
    ['low', 'medium', 'low', 'high']
    """
    if not trained or drifted:
        return Confidence.LOW
    return Confidence.MEDIUM if base else Confidence.HIGH
