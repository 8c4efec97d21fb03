"""Broken promises over the fleet."""

from datetime import datetime

from wallwatch_backend.isolation.breakage.schemas import FleetIsolation
from wallwatch_backend.kit.database import ReadSession


async def fleet(session: ReadSession, since: datetime, until: datetime, limit: int) -> FleetIsolation:
    raise NotImplementedError
