"""`/agents`: list, enrol, remove."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Path, Query, Request, Response

from wallwatch_backend.hosts.certificates import service as certificates
from wallwatch_backend.hosts.command_keys.dependencies import TheSigner
from wallwatch_backend.hosts.enrolment import errors, service
from wallwatch_backend.hosts.enrolment.schemas import Agent, EnrolledAgent, Enrolment, EnrolmentToken, NewEnrolmentToken
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsAdmin, AsViewer, address_of
from wallwatch_backend.kit.cipher_dependency import TheCipher
from wallwatch_backend.kit.database import Reading, TheDatabase, Writing
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.kit.text import HostName

router = APIRouter(prefix="/agents", tags=["agents"])


@router.get("", operation_id="listAgents", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_agents(
    caller: AsViewer,
    session: Reading,
    host: Annotated[HostName | None, Query()] = None,
    connected: Annotated[bool | None, Query()] = None,
    sort: Annotated[Literal["host", "certificate"], Query(description="`certificate`: by expiry, soonest first")] = "host",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[Agent]:
    """List the enrolled agents."""
    by_end = sort == "certificate"
    return await service.list_agents(session, host=host, connected=connected, by_end=by_end, limit=limit, cursor=cursor)


@router.post("/enrolment-tokens", operation_id="createEnrolmentToken", status_code=201, responses=problems.responses(*WRITE_ERRORS))
async def create_enrolment_token(
    caller: AsAdmin, body: NewEnrolmentToken, session: Writing, settings: TheSettings, request: Request, response: Response
) -> EnrolmentToken:
    """Create a token with which one agent can enrol."""
    response.headers["Cache-Control"] = "no-store"
    authority = await certificates.pin(session) if settings.agent_port is not None else None
    url = str(settings.agent_url or settings.public_url or request.base_url).rstrip("/")
    return await service.create_enrolment_token(session, authority, url, caller.actor, body.host, body.ttl_s, caller.address)


@router.post(
    "/enrol",
    operation_id="enrolAgent",
    status_code=201,
    responses=problems.responses(
        errors.CertificateRequestNeeded,
        errors.BadEnrolmentToken,
        errors.HostEnrolled,
        errors.TooManyEnrolments,
        errors.KubernetesUnreachable,
    ),
)
async def enrol(
    body: Enrolment,
    request: Request,
    response: Response,
    database: TheDatabase,
    settings: TheSettings,
    signer: TheSigner,
    cipher: TheCipher,
) -> EnrolledAgent:
    """Exchange an enrolment token, or a service account's, for an agent's credentials. Agents call this; the token authorizes them."""
    response.headers["Cache-Control"] = "no-store"
    base_url = str(settings.public_url or request.base_url)
    return await service.enrol(database, settings, signer, cipher, request.app.state.telemetry_keys, body, base_url, address_of(request))


@router.delete("/{agent_id}", operation_id="deleteAgent", status_code=204, responses=problems.responses(*WRITE_ERRORS, problems.NotFound))
async def delete_agent(caller: AsAdmin, agent_id: Annotated[UUID, Path()], session: Writing) -> None:
    """Remove an agent. Its credentials stop working immediately."""
    await service.delete_agent(session, caller, agent_id)
