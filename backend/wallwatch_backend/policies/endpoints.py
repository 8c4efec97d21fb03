"""`/policies`: the catalogue's and operators' own."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from wallwatch_backend.agents.policies import PolicyFile
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.etags import IfMatch, VersionMismatch, etag
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.text import HostName, PciAddress
from wallwatch_backend.kit.times import Moment
from wallwatch_backend.kit.workers import TookTooLong
from wallwatch_backend.policies import delivery as delivery_service
from wallwatch_backend.policies import errors, service, states
from wallwatch_backend.policies import violations as violations_service
from wallwatch_backend.policies.schemas import NewPolicy, Policy, PolicyChange, PolicySummary
from wallwatch_backend.policies.schemas_check import PolicyViolation
from wallwatch_backend.policies.schemas_states import PolicyDelivery, PolicySeries
from wallwatch_backend.policies.standing import Standing

router = APIRouter(prefix="/policies", tags=["policies"])

Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{1,63}$", description="Name of the policy")]
From = Annotated[Moment | None, Query(alias="from")]
To = Annotated[Moment | None, Query(alias="to")]
ONE = (*READ_ERRORS, problems.NotFound)
OWN = (*WRITE_ERRORS, problems.NotFound, VersionMismatch, errors.PolicyOfCatalogue)


class Policies(BaseModel):
    items: list[PolicySummary]
    next_cursor: None = Field(default=None, description="All policies are in one answer")


class Enabling(BaseModel):
    version: int | None = Field(default=None, ge=1, description="Of an operators' own policy; the newest when left out")


@router.get("", operation_id="listPolicies", responses=problems.responses(*READ_ERRORS))
async def list_policies(caller: AsViewer, request: Request, session: Reading) -> Policies:
    """List all policies with their state: the catalogue's, then operators' own."""
    standing: Standing = request.app.state.policy_standing
    return Policies(items=await service.list_policies(session, standing))


@router.post(
    "",
    operation_id="createPolicy",
    status_code=201,
    responses=problems.responses(*WRITE_ERRORS, errors.BadPolicy, errors.PolicyExists, TookTooLong),
)
async def create_policy(caller: AsOperator, body: NewPolicy, session: Writing, response: Response) -> Policy:
    """Save a policy as a draft: nothing runs it until it is enabled."""
    made = await service.create(session, caller, body)
    response.headers["ETag"] = etag(made.version)
    return made


@router.get("/delivery", operation_id="getPolicyDelivery", responses=problems.responses(*READ_ERRORS))
async def get_delivery(caller: AsViewer, request: Request, session: Reading) -> PolicyDelivery:
    """Say how many agents run the policies of today, and which refuse them."""
    file: PolicyFile = request.app.state.policy_file
    return await delivery_service.delivery(session, await file.current())


@router.get("/{policy_id}", operation_id="getPolicy", responses=problems.responses(*ONE))
async def get_policy(caller: AsViewer, policy_id: Name, session: Reading, response: Response) -> Policy:
    """Return one policy with its versions and what was done with it."""
    found = await service.get(session, policy_id)
    response.headers["ETag"] = etag(found.version)
    return found


@router.put("/{policy_id}", operation_id="updatePolicy", responses=problems.responses(*OWN, errors.BadPolicy, TookTooLong))
async def update_policy(
    caller: AsOperator, policy_id: Name, body: PolicyChange, session: Writing, response: Response, if_match: IfMatch = None
) -> Policy:
    """Change the draft of an operators' own policy, or begin one: the enabled version goes on until another is enabled."""
    changed = await service.update(session, caller, policy_id, body, if_match)
    response.headers["ETag"] = etag(changed.version)
    return changed


@router.delete("/{policy_id}", operation_id="deletePolicyDraft", status_code=204, responses=problems.responses(*OWN, errors.NoDraft))
async def delete_draft(caller: AsOperator, policy_id: Name, session: Writing, if_match: IfMatch = None) -> None:
    """Remove the draft: the whole policy when it was never enabled."""
    await service.delete(session, caller, policy_id, if_match)


@router.post(
    "/{policy_id}/enable",
    operation_id="enablePolicy",
    responses=problems.responses(*OWN, errors.BadPolicy, errors.TooManyPolicies, TookTooLong),
)
async def enable_policy(
    caller: AsOperator, policy_id: Name, session: Writing, response: Response, body: Enabling | None = None, if_match: IfMatch = None
) -> Policy:
    """Deliver a version to all agents, or switch a policy of the catalogue on again."""
    changed = await service.enable(session, caller, policy_id, body.version if body is not None else None, if_match)
    response.headers["ETag"] = etag(changed.version)
    return changed


@router.post("/{policy_id}/disable", operation_id="disablePolicy", responses=problems.responses(*OWN))
async def disable_policy(caller: AsOperator, policy_id: Name, session: Writing, response: Response, if_match: IfMatch = None) -> Policy:
    """Take a policy from all agents. Its versions and its violations stay."""
    changed = await service.disable(session, caller, policy_id, if_match)
    response.headers["ETag"] = etag(changed.version)
    return changed


@router.get("/{policy_id}/series", operation_id="getPolicySeries", responses=problems.responses(*ONE, problems.InvalidInput))
async def get_series(caller: AsViewer, policy_id: Name, session: Reading, since: From = None, until: To = None) -> PolicySeries:
    """Return the policy's state over the fleet in equal steps; the last hour when no range is given."""
    return await states.series(session, policy_id, since, until)


@router.get("/{policy_id}/violations", operation_id="listPolicyViolations", responses=problems.responses(*ONE, BadCursor))
async def list_violations(
    caller: AsViewer,
    policy_id: Name,
    session: Reading,
    since: From = None,
    until: To = None,
    host: Annotated[HostName | None, Query()] = None,
    pci: Annotated[PciAddress | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[PolicyViolation]:
    """List violations, the newest first, each with its way through the automaton."""
    return await violations_service.list_violations(
        session, policy_id, since=since, until=until, host=host, pci=pci, limit=limit, cursor=cursor
    )


@router.get("/{policy_id}/violations/{violation_id}", operation_id="getPolicyViolation", responses=problems.responses(*ONE, BadCursor))
async def get_violation(
    caller: AsViewer, policy_id: Name, violation_id: Annotated[str, Path(max_length=500)], session: Reading
) -> PolicyViolation:
    """Return one violation."""
    return await violations_service.get_violation(session, policy_id, violation_id)
