"""The VFs of one RNIC."""

from datetime import datetime

from wallwatch_backend.isolation.vfs.schemas import IsolationStrip, RnicIsolation, VfHistory
from wallwatch_backend.kit.database import ReadSession


async def get_rnic(session: ReadSession, host: str, pci: str) -> RnicIsolation:
    raise NotImplementedError


async def get_strip(session: ReadSession, host: str, pci: str, since: datetime, until: datetime, step_s: int | None) -> IsolationStrip:
    raise NotImplementedError


async def get_vf(session: ReadSession, host: str, pci: str, vf: int, since: datetime, until: datetime) -> VfHistory:
    raise NotImplementedError
