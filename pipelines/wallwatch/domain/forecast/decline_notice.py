"""When a notice of a predicted decline is withdrawn: later than the prediction itself ends.

A prediction that ends is drawn differently on a page; a notice that ends has woken somebody for nothing, and one that comes again does so
twice. So a notice waits until the chance is as far below the one that gave it as that of a limit is (`wall_chance`).
"""

from wallwatch.domain.forecast.confidence import Confidence
from wallwatch.domain.forecast.decline import COLD_FROM, SAID_FROM
from wallwatch.domain.forecast.wall_chance import LIKELY_FROM, UNLIKELY_BELOW

_DISTANCE = LIKELY_FROM - UNLIKELY_BELOW
WITHDRAWN_BELOW = SAID_FROM - _DISTANCE
"""Of chances that are learnt."""
COLD_WITHDRAWN_BELOW = COLD_FROM - _DISTANCE
"""Of chances from quantiles alone."""


def withdrawn(chance: float | None, cold_start: bool, confidence: str | None, wall_chance: float | None) -> bool:
    """Whether a notice of a decline ends whose prediction has ended.

    Parameters
    ----------
    chance : float or None
        Of a decline within the hour, as the newest forecast has it; None if it is unknown.
    cold_start : bool
        Whether the chance comes from quantiles alone.
    confidence : str or None
        In that forecast; only a model of this fleet reports declines without a limit that is likely to be reached.
    wall_chance : float or None
        Of the limit that is reached first; None without one.

    >>> withdrawn(0.7, False, "high", None), withdrawn(0.6, False, "high", None), withdrawn(None, False, "high", None)
    (False, True, True)
    >>> withdrawn(0.9, False, "medium", 0.4), withdrawn(0.9, False, "medium", 0.3), withdrawn(0.5, True, "low", 0.4)
    (False, True, False)
    """
    if chance is None or chance < (COLD_WITHDRAWN_BELOW if cold_start else WITHDRAWN_BELOW):
        return True
    return confidence != Confidence.HIGH and (wall_chance is None or wall_chance < UNLIKELY_BELOW)
