"""`/policies`: those of the catalogue and of operators."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, Field

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.etags import IfMatch, VersionMismatch, etag
from wallwatch_backend.kit.process_pool import TookTooLong
from wallwatch_backend.policies.registry import errors, service
from wallwatch_backend.policies.registry.schemas import NewPolicy, Policy, PolicyChange, PolicySummary
from wallwatch_backend.policies.reports.standing import Standing

router = APIRouter(prefix="/policies", tags=["policies"])

Name = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{1,63}$", description="Name of the policy")]
ONE = (*READ_ERRORS, problems.NotFound)
OWN = (*WRITE_ERRORS, problems.NotFound, VersionMismatch, errors.PolicyOfCatalogue)


class Policies(BaseModel):
    items: list[PolicySummary]
    next_cursor: None = Field(default=None, description="All policies are in one answer")


class Enabling(BaseModel):
    version: int | None = Field(default=None, ge=1, description="Of an operators' policy; default: the newest")


@router.get("", operation_id="listPolicies", responses=problems.responses(*READ_ERRORS))
async def list_policies(caller: AsViewer, request: Request, session: Reading) -> Policies:
    """List all policies with their state: the catalogue's, then those of operators."""
    standing: Standing = request.app.state.policy_standing
    return Policies(items=await service.list_policies(session, standing))


@router.post(
    "",
    operation_id="createPolicy",
    status_code=201,
    responses=problems.responses(*WRITE_ERRORS, errors.BadPolicy, errors.PolicyExists, TookTooLong),
)
async def create_policy(caller: AsOperator, body: NewPolicy, session: Writing, response: Response) -> Policy:
    """Save a policy as a draft; it does not run until it is enabled."""
    created = await service.create(session, caller, body)
    response.headers["ETag"] = etag(created.version)
    return created


@router.get("/{policy_id}", operation_id="getPolicy", responses=problems.responses(*ONE))
async def get_policy(caller: AsViewer, policy_id: Name, session: Reading, response: Response) -> Policy:
    """Return one policy with its versions and history."""
    policy = await service.get(session, policy_id)
    response.headers["ETag"] = etag(policy.version)
    return policy


@router.put("/{policy_id}", operation_id="updatePolicy", responses=problems.responses(*OWN, errors.BadPolicy, TookTooLong))
async def update_policy(
    caller: AsOperator, policy_id: Name, body: PolicyChange, session: Writing, response: Response, if_match: IfMatch = None
) -> Policy:
    """Change the draft of an operators' policy, or create one: the enabled version keeps running until another is enabled."""
    changed = await service.update(session, caller, policy_id, body, if_match)
    response.headers["ETag"] = etag(changed.version)
    return changed


@router.delete("/{policy_id}", operation_id="deletePolicyDraft", status_code=204, responses=problems.responses(*OWN, errors.NoDraft))
async def delete_draft(caller: AsOperator, policy_id: Name, session: Writing, if_match: IfMatch = None) -> None:
    """Delete the draft: the whole policy if it was never enabled."""
    await service.delete(session, caller, policy_id, if_match)


@router.post(
    "/{policy_id}/enable",
    operation_id="enablePolicy",
    responses=problems.responses(*OWN, errors.BadPolicy, errors.TooManyPolicies, TookTooLong),
)
async def enable_policy(
    caller: AsOperator, policy_id: Name, session: Writing, response: Response, body: Enabling | None = None, if_match: IfMatch = None
) -> Policy:
    """Deliver a version to all agents, or enable a policy of the catalogue again."""
    changed = await service.enable(session, caller, policy_id, body.version if body is not None else None, if_match)
    response.headers["ETag"] = etag(changed.version)
    return changed


@router.post("/{policy_id}/disable", operation_id="disablePolicy", responses=problems.responses(*OWN))
async def disable_policy(caller: AsOperator, policy_id: Name, session: Writing, response: Response, if_match: IfMatch = None) -> Policy:
    """Remove a policy from all agents. Its versions and violations stay."""
    changed = await service.disable(session, caller, policy_id, if_match)
    response.headers["ETag"] = etag(changed.version)
    return changed
