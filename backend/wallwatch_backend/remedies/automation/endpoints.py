"""`/automation-rules`: rules that apply a remedy automatically; every rule is off until an administrator enables it."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsAdmin, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.remedies.automation import service
from wallwatch_backend.remedies.automation.errors import NameTaken, NothingToMatch
from wallwatch_backend.remedies.automation.schemas import NewRule, Rule, RulePreview, Run
from wallwatch_backend.remedies.orders.errors import BadParameter, UnknownAction

router = APIRouter(prefix="/automation-rules", tags=["remedies"])

RuleId = Annotated[UUID, Path()]
_RULE_ERRORS = (UnknownAction, BadParameter, NothingToMatch)


@router.get("", operation_id="listAutomationRules", responses=problems.responses(*READ_ERRORS))
async def list_rules(caller: AsViewer, session: Reading, settings: TheSettings) -> list[Rule]:
    """List the rules by name."""
    return await service.list_rules(session, settings)


@router.post(
    "", operation_id="createAutomationRule", status_code=201, responses=problems.responses(*WRITE_ERRORS, NameTaken, *_RULE_ERRORS)
)
async def create_rule(caller: AsAdmin, body: NewRule, session: Writing, settings: TheSettings) -> Rule:
    """Create a rule; it is disabled."""
    return await service.create(session, settings, caller, body)


@router.post("/preview", operation_id="previewAutomationRule", responses=problems.responses(*WRITE_ERRORS, *_RULE_ERRORS))
async def preview_rule(caller: AsOperator, body: NewRule, session: Reading) -> RulePreview:
    """Return where a rule would act now, without creating it."""
    return await service.preview(session, body)


@router.put(
    "/{rule_id}",
    operation_id="changeAutomationRule",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, NameTaken, *_RULE_ERRORS),
)
async def change_rule(caller: AsAdmin, rule_id: RuleId, body: NewRule, session: Writing, settings: TheSettings) -> Rule:
    """Change a rule; it is disabled afterwards."""
    return await service.change(session, settings, caller, rule_id, body)


@router.post("/{rule_id}/enable", operation_id="enableAutomationRule", responses=problems.responses(*WRITE_ERRORS, problems.NotFound))
async def enable_rule(caller: AsAdmin, rule_id: RuleId, session: Writing, settings: TheSettings) -> Rule:
    """Enable a rule: it acts without a person."""
    return await service.switch(session, settings, caller, rule_id, on=True)


@router.post("/{rule_id}/disable", operation_id="disableAutomationRule", responses=problems.responses(*WRITE_ERRORS, problems.NotFound))
async def disable_rule(caller: AsOperator, rule_id: RuleId, session: Writing, settings: TheSettings) -> Rule:
    """Disable a rule: it applies nothing new."""
    return await service.switch(session, settings, caller, rule_id, on=False)


@router.delete(
    "/{rule_id}",
    operation_id="deleteAutomationRule",
    status_code=204,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound),
)
async def delete_rule(caller: AsAdmin, rule_id: RuleId, session: Writing) -> None:
    """Delete a rule and the log of its runs; remedies that it requested stay."""
    await service.delete(session, caller, rule_id)


@router.get("/{rule_id}/runs", operation_id="listAutomationRuns", responses=problems.responses(*READ_ERRORS, problems.NotFound, BadCursor))
async def list_runs(caller: AsViewer, rule_id: RuleId, session: Reading, limit: Limit = 100, cursor: Cursor = None) -> Page[Run]:
    """List the runs of a rule, newest first."""
    return await service.list_runs(session, rule_id, limit, cursor)
