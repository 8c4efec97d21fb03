"""`/agent-authorities`: who signs the certificates of agents."""

from fastapi import APIRouter, Request

from wallwatch_backend.certificates import service
from wallwatch_backend.certificates.schemas import AgentAuthorities, AuthorityRotation
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsAdmin
from wallwatch_backend.kit.database import Reading, Writing

router = APIRouter(prefix="/agent-authorities", tags=["agents"])


@router.get("", operation_id="listAgentAuthorities", responses=problems.responses(*READ_ERRORS))
async def list_authorities(caller: AsAdmin, session: Reading) -> AgentAuthorities:
    """List the authorities, and the agents that have no certificate of the current one."""
    return await service.list_authorities(session)


@router.post("/rotate", operation_id="rotateAgentAuthority", responses=problems.responses(*WRITE_ERRORS))
async def rotate(caller: AsAdmin, body: AuthorityRotation, session: Writing, request: Request) -> AgentAuthorities:
    """Make a new authority. Connected agents get certificates of it at once; the one before ends after the overlap."""
    await service.rotate(session, request.app.state.cipher, caller.actor, caller.address, body.overlap_s)
    return await service.list_authorities(session)
