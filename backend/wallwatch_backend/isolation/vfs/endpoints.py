"""`/isolation/rnics/...`: the VFs of one RNIC, and one VF."""

from typing import Annotated

from fastapi import APIRouter, Query

from wallwatch_backend.fleet.rnics.endpoints import ONE, Host, Pci
from wallwatch_backend.isolation.parameters import Since, Until, Vf, interval
from wallwatch_backend.isolation.vfs import service
from wallwatch_backend.isolation.vfs.schemas import IsolationStrip, RnicIsolation, VfHistory
from wallwatch_backend.kit.access import AsViewer
from wallwatch_backend.kit.database import Reading

router = APIRouter(prefix="/isolation/rnics", tags=["isolation"])


@router.get("/{host}/{pci}", operation_id="getRnicIsolation", responses=ONE)
async def get_rnic(caller: AsViewer, host: Host, pci: Pci, session: Reading) -> RnicIsolation:
    """Return the VFs of an RNIC with their promises, rates, states and roles."""
    return await service.get_rnic(session, host, pci)


@router.get("/{host}/{pci}/strip", operation_id="getIsolationStrip", responses=ONE)
async def get_strip(
    caller: AsViewer,
    host: Host,
    pci: Pci,
    session: Reading,
    since: Since = None,
    until: Until = None,
    step_s: Annotated[int | None, Query(ge=1, le=86400, description="Default: at most 300 steps; at most 3,600 are allowed")] = None,
) -> IsolationStrip:
    """Return the state of each VF over time, one cell per step."""
    start, end = interval(since, until)
    return await service.get_strip(session, host, pci, start, end, step_s)


@router.get("/{host}/{pci}/vfs/{vf}", operation_id="getVfIsolation", responses=ONE)
async def get_vf(caller: AsViewer, host: Host, pci: Pci, vf: Vf, session: Reading, since: Since = None, until: Until = None) -> VfHistory:
    """Return one VF: its rates over time, each broken interval with who did it, and the pods that held it."""
    start, end = interval(since, until)
    return await service.get_vf(session, host, pci, vf, start, end)
