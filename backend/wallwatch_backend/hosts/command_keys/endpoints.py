"""`/command-keys`: the keys that sign commands to agents."""

from fastapi import APIRouter

from wallwatch_backend.hosts.command_keys import service
from wallwatch_backend.hosts.command_keys.dependencies import TheSigner
from wallwatch_backend.hosts.command_keys.schemas import CommandKeys, Rotation
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsAdmin
from wallwatch_backend.kit.database import Reading, Writing

router = APIRouter(prefix="/command-keys", tags=["agents"])


@router.get("", operation_id="listCommandKeys", responses=problems.responses(*READ_ERRORS))
async def list_keys(caller: AsAdmin, session: Reading, signer: TheSigner) -> CommandKeys:
    """List the keys, and the hosts whose agents do not trust the current one yet."""
    return await service.list_keys(session, signer)


@router.post("/rotate", operation_id="rotateCommandKey", responses=problems.responses(*WRITE_ERRORS))
async def rotate(caller: AsAdmin, body: Rotation, session: Writing, signer: TheSigner) -> CommandKeys:
    """Create a new key.

    Connected agents get it immediately, others when they connect; the previous key retires after the overlap.
    """
    await service.rotate(session, signer, caller.actor, caller.address, body.overlap_s)
    return await service.list_keys(session, signer)
