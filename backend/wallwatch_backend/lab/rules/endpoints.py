"""`/lab/rules`: candidate rules from found causes, and the review of each."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query
from fastapi.responses import PlainTextResponse

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce
from wallwatch_backend.lab.errors import NoReport
from wallwatch_backend.lab.rules import errors, service
from wallwatch_backend.lab.rules.models import RuleState
from wallwatch_backend.lab.rules.schemas import LabRule, LabRules, RuleProposal, RuleReview

router = APIRouter(prefix="/lab", tags=["lab"])

CampaignId = Annotated[UUID, Path()]
RuleId = Annotated[UUID, Path()]
YAML = "application/yaml"


@router.post(
    "/campaigns/{campaign_id}/rules",
    operation_id="proposeLabRule",
    status_code=201,
    responses=problems.responses(
        *WRITE_ERRORS, problems.NotFound, NoReport, errors.NoRuleForCause, errors.AlreadyProposed, IdempotencyKeyReused
    ),
)
async def propose_rule(caller: AsOperator, campaign_id: CampaignId, body: RuleProposal, session: Writing, once: TheOnce) -> LabRule:
    """Propose a found cause as a rule. Nothing uses it before an operator accepts it."""
    return await once(session, caller, body, LabRule, lambda: service.propose(session, caller, campaign_id, body))


@router.get("/rules", operation_id="listLabRules", responses=problems.responses(*READ_ERRORS))
async def list_rules(
    caller: AsViewer,
    session: Reading,
    state: Annotated[RuleState | None, Query()] = None,
    campaign_id: Annotated[UUID | None, Query()] = None,
) -> LabRules:
    """List candidate rules, newest first."""
    return await service.list_rules(session, state, campaign_id)


@router.get(
    "/rules/export",
    operation_id="exportLabRules",
    response_class=PlainTextResponse,
    responses={
        200: {"description": "The accepted rules in the form of the catalogue", "content": {YAML: {"schema": {"type": "object"}}}},
        **problems.responses(*READ_ERRORS),
    },
)
async def export_rules(caller: AsViewer, session: Reading) -> PlainTextResponse:
    """Download the accepted rules as YAML."""
    headers = {"Content-Disposition": 'attachment; filename="wallwatch-rules.yaml"'}
    return PlainTextResponse(await service.export(session), media_type=YAML, headers=headers)


@router.post(
    "/rules/{rule_id}/accept",
    operation_id="acceptLabRule",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.AlreadyDecided, errors.RuleUnusable),
)
async def accept_rule(caller: AsOperator, rule_id: RuleId, body: RuleReview, session: Writing) -> LabRule:
    """Accept a rule. The job classify detects it from its next start on."""
    return await service.accept(session, caller, rule_id, body.comment)


@router.post(
    "/rules/{rule_id}/reject",
    operation_id="rejectLabRule",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.AlreadyDecided),
)
async def reject_rule(caller: AsOperator, rule_id: RuleId, body: RuleReview, session: Writing) -> LabRule:
    """Reject a rule, also one that was accepted before."""
    return await service.reject(session, caller, rule_id, body.comment)
