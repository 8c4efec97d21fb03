"""The monthly SLO report."""

from wallwatch_backend.isolation.reports.schemas import SloReport
from wallwatch_backend.kit.database import ReadSession


async def report(session: ReadSession, month: str | None, by: str, objective: float) -> SloReport:
    raise NotImplementedError
