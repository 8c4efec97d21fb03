"""`/rnics/{host}/{pci}/vfs`: the virtual functions of one RNIC."""

from fastapi import APIRouter

from wallwatch_backend.fleet.rnics.endpoints import ONE, Host, Pci
from wallwatch_backend.fleet.vfs import service
from wallwatch_backend.fleet.vfs.schemas import VirtualFunctions
from wallwatch_backend.kit.access import AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.settings_dependency import TheSettings

router = APIRouter(prefix="/rnics", tags=["rnics"])


@router.get("/{host}/{pci}/vfs", operation_id="listRnicVfs", responses=ONE)
async def list_vfs(caller: AsViewer, host: Host, pci: Pci, session: Reading, settings: TheSettings) -> VirtualFunctions:
    """Return the newest sample of each virtual function, with the container that it is assigned to."""
    return await service.list_vfs(session, host, pci, settings.vf_sampling_interval_s)
