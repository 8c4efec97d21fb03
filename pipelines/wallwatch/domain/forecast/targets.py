"""What is forecast: the values behind the walls, and the mean mask lookups that the performance model takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from wallwatch.domain.catalogue.load import walls
from wallwatch.domain.catalogue.models import Profile
from wallwatch.domain.catalogue.promoted import profiles
from wallwatch.domain.forecast.profile_lookup import by_profile

Floats = npt.NDArray[np.float64]

HORIZONS_MIN = (1, 5, 15, 30, 60)
QUANTILES = (0.05, 0.5, 0.95)
"""The outer two hold the interval whose nominal coverage is 90%."""
NOMINAL_COVERAGE = QUANTILES[-1] - QUANTILES[0]
HISTORY_MIN = 61
"""Minutes of history that a forecast looks at: the newest, and the 60 before."""


@dataclass(frozen=True, slots=True)
class Target:
    """One quantity of one RNIC over time; `field` is its field of `rnic_offload`, None where it is joined from peers."""

    name: str
    field: str | None
    wall: str | None
    """The wall whose value it is; its limit is the unit in which changes are predicted."""


@cache
def targets() -> tuple[Target, ...]:
    """The walls in the order of the catalogue, then `q_l` and `q_r`.

    >>> [t.name for t in targets()]
    ['offloaded_flows', 'egress_masks', 'ingress_masks', 'flow_insertions', 'encap_contexts', 'q_l', 'q_r']
    """
    return (*(Target(w.id, w.signal, w.id) for w in walls().values()), Target("q_l", "q_egress", None), Target("q_r", None, None))


def column(name: str) -> int:
    """The column of a target in arrays of shape (..., targets)."""
    return [t.name for t in targets()].index(name)


_UNKNOWN = "CX-6"
"""The profile whose limits scale the changes of RNICs of unknown models; their walls and performance are not predicted."""


def scales(models: Sequence[str | None]) -> Floats:
    """Units of change, shape (rnics, targets): the limit of the wall; for Q, half of the limit of masks (masks used evenly)."""
    return by_profile(models, lambda profile: _scale(profile or profiles()[_UNKNOWN]))


def _scale(profile: Profile) -> list[float]:
    return [
        profile.limits[t.wall or ("egress_masks" if t.name == "q_l" else "ingress_masks")].value / (1 if t.wall else 2) for t in targets()
    ]


def limits(models: Sequence[str | None]) -> Floats:
    """Limits of the walls, shape (rnics, walls); NaN for an unknown model."""
    return by_profile(models, lambda profile: [np.nan if profile is None else profile.limits[wall].value for wall in walls()])
