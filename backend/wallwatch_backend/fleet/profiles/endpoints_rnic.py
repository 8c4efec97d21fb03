"""`/rnics/{host}/{pci}/performance`: expected and measured performance of an RNIC."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from wallwatch_backend.fleet.profiles import performance
from wallwatch_backend.fleet.profiles.schemas import RnicPerformance
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.text import HostName, PciAddress

router = APIRouter(prefix="/rnics", tags=["profiles"])


@router.get("/{host}/{pci}/performance", operation_id="getRnicPerformance", responses=problems.responses(*READ_ERRORS, problems.NotFound))
async def get_performance(
    caller: AsViewer,
    host: Annotated[HostName, Path()],
    pci: Annotated[PciAddress, Path()],
    session: Reading,
    hours: Annotated[float, Query(ge=0.1, le=48, description="Length of the path")] = 6.0,
) -> RnicPerformance:
    """Return expected and measured bandwidth and latency now, and the RNIC's path over its model's surface."""
    return await performance.of_rnic(session, host, pci, hours)
