"""Walls: the current value, the limit of the RNIC's profile, and the headroom between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.catalogue.load import walls
from wallwatch.domain.catalogue.models import Basis, Profile


def headroom_of(value: float, limit: float) -> float:
    """What is left to a limit, as a share of it; negative past the limit.

    >>> headroom_of(750.0, 1000.0)
    0.25
    """
    return 1.0 - value / limit


@dataclass(frozen=True, slots=True)
class WallReading:
    """One wall of one RNIC; `headroom = 1 - value / limit`, negative past the limit."""

    wall: str
    value: float
    limit: float
    headroom: float
    basis: Basis


def read_walls(values: Mapping[str, float | None], profile: Profile | None) -> list[WallReading]:
    """The walls that can be read, in the order of the catalogue.

    A wall whose signal is missing is skipped, never treated as zero; without a profile no limit is known and no wall is read.

    Parameters
    ----------
    values : mapping
        Fields of `rnic_offload`.
    profile : Profile or None
        The RNIC's model.

    Examples
    --------
    >>> from wallwatch.domain.catalogue.load import profiles
    >>> [(r.wall, round(r.headroom, 2)) for r in read_walls({"flows_offloaded": 6300}, profiles()["CX-6"])]
    [('offloaded_flows', 0.1)]
    """
    if profile is None:
        return []
    readings = []
    for wall in walls().values():
        value = values.get(wall.signal)
        if value is None:
            continue
        limit = profile.limits[wall.id]
        readings.append(WallReading(wall.id, float(value), limit.value, headroom_of(float(value), limit.value), limit.basis))
    return readings


def nearest(readings: Sequence[WallReading]) -> WallReading | None:
    """The wall with the least headroom; the first of the catalogue's order when two are equal, None when nothing was read."""
    return min(readings, key=lambda r: r.headroom, default=None)


def headrooms(values: npt.NDArray[np.float64], limits: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """`read_walls` and `nearest` for many RNICs at once.

    Parameters
    ----------
    values, limits : arrays of shape (rnics, walls)
        NaN if a value or a limit is unknown.

    Returns
    -------
    headroom : array of shape (rnics,)
        Headroom of the nearest wall, NaN where no wall could be read.
    nearest : array of shape (rnics,)
        Its column, -1 where no wall could be read.

    Examples
    --------
    >>> h, n = headrooms(np.array([[50.0, 9.0], [np.nan, np.nan]]), np.array([[100.0, 10.0], [100.0, 10.0]]))
    >>> [round(float(x), 2) for x in h], n.tolist()
    ([0.1, nan], [1, -1])
    """
    each = 1.0 - values / limits
    unread = np.isnan(each)
    column = np.where(unread, np.inf, each).argmin(axis=1)
    none_read = unread.all(axis=1)
    found = each[np.arange(len(each)), column]
    return np.where(none_read, np.nan, found), np.where(none_read, -1, column)
