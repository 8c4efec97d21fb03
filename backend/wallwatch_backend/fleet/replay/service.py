"""The fleet as it was: headroom from the minute's values, symptoms from the findings."""

from datetime import datetime, timedelta
from typing import Any

from wallwatch.domain.catalogue import load
from wallwatch.domain.walls.headroom import headroom_of
from wallwatch_backend.fleet.replay import repository
from wallwatch_backend.fleet.replay.schemas import FleetThen
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import InvalidInput

LONGEST = timedelta(hours=24)


def headrooms_of(row: Any) -> dict[str, float]:
    """Return the headroom to each wall, from the minute's values and the limits in `rnic_state.walls`."""
    limits = row.walls or {}
    return {
        wall.id: headroom_of(getattr(row, wall.id), limits[wall.id]["limit"])
        for wall in repository.WALLS
        if getattr(row, wall.id) is not None and wall.id in limits
    }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


async def fleet_then(session: ReadSession, at: datetime, wall: str | None) -> FleetThen:
    """Return the fleet of the minute that holds `at`."""
    if wall is not None and wall not in load.walls():
        raise InvalidInput(f"{wall!r} is not a wall; GET /api/v1/catalogue lists them.")
    now = clock.now()
    if at.tzinfo is None or not now - LONGEST <= at <= now:
        raise InvalidInput("`at` must be a moment of the last 24 hours, with a time zone.")
    minute = at.replace(second=0, microsecond=0)
    end = min(minute + repository.MINUTE, now)
    rows = await repository.minute(session, minute)
    sick = await repository.symptoms(session, end, now - 2 * LONGEST, now - LONGEST)
    headrooms = [headrooms_of(row) for row in rows]
    nearest = [min(known, key=known.__getitem__, default=None) for known in headrooms]
    return FleetThen(
        minute=minute,
        host=[row.host for row in rows],
        pci=[row.pci for row in rows],
        headroom=[None if name is None else round(known[name], 4) for known, name in zip(headrooms, nearest, strict=True)],
        nearest_wall=nearest,
        wall_headroom=[None if wall is None else _rounded(known.get(wall), 4) for known in headrooms],
        symptoms=[sick.get((row.host, row.pci), []) for row in rows],
        tx_gbps=[_rounded(row.tx_gbps, 2) for row in rows],
        rx_gbps=[_rounded(row.rx_gbps, 2) for row in rows],
    )
