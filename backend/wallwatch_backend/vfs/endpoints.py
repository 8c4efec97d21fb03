"""`/rnics/{host}/{pci}/vfs`: the virtual functions of one RNIC."""

from fastapi import APIRouter

from wallwatch_backend.kit.access import AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.rnics.endpoints import ONE, Host, Pci
from wallwatch_backend.vfs import service
from wallwatch_backend.vfs.schemas import VirtualFunctions

router = APIRouter(prefix="/rnics", tags=["rnics"])


@router.get("/{host}/{pci}/vfs", operation_id="listRnicVfs", responses=ONE)
async def list_vfs(caller: AsViewer, host: Host, pci: Pci, session: Reading) -> VirtualFunctions:
    """Return the newest sample of each virtual function, with the container that holds it."""
    return await service.list_vfs(session, host, pci)
