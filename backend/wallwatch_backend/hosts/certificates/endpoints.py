"""`/agent-authorities`: the authorities that sign the certificates of agents."""

from fastapi import APIRouter

from wallwatch_backend.hosts.certificates import service
from wallwatch_backend.hosts.certificates.schemas import AgentAuthorities, AuthorityRotation
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsAdmin
from wallwatch_backend.kit.cipher_dependency import TheCipher
from wallwatch_backend.kit.database import Reading, Writing

router = APIRouter(prefix="/agent-authorities", tags=["agents"])


@router.get("", operation_id="listAgentAuthorities", responses=problems.responses(*READ_ERRORS))
async def list_authorities(caller: AsAdmin, session: Reading) -> AgentAuthorities:
    """List the authorities, and the hosts whose agents have no certificate of the current one."""
    return await service.list_authorities(session)


@router.post("/rotate", operation_id="rotateAgentAuthority", responses=problems.responses(*WRITE_ERRORS))
async def rotate(caller: AsAdmin, body: AuthorityRotation, session: Writing, cipher: TheCipher) -> AgentAuthorities:
    """Create a new authority.

    Connected agents get its certificates immediately; the previous authority retires after the overlap.
    """
    await service.rotate(session, cipher, caller.actor, caller.address, body.overlap_s)
    return await service.list_authorities(session)
