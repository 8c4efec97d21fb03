"""A found cause becomes a candidate rule, a person accepts or rejects it, and the accepted ones are exported."""

from typing import Any
from uuid import UUID, uuid4

from pydantic import ValidationError

from wallwatch.domain.catalogue.local_rule_check import problem_of
from wallwatch.domain.catalogue.local_rules import dump
from wallwatch.domain.catalogue.models import AnotherRule
from wallwatch.domain.catalogue.rule_of_cause import NoRule
from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.lab import cause_rule, results, service
from wallwatch_backend.lab.rules import repository
from wallwatch_backend.lab.rules.errors import AlreadyDecided, AlreadyProposed, NoRuleForCause, RuleUnusable
from wallwatch_backend.lab.rules.models import RuleRow, RuleState
from wallwatch_backend.lab.rules.schemas import LabRule, LabRules, RuleEvidence, RuleProposal

MOST_RULES = 500
"""Each is proposed by a person."""


async def propose(session: WriteSession, caller: Caller, campaign_id: UUID, body: RuleProposal) -> LabRule:
    """Store a cause of a campaign as a candidate rule."""
    await service.require_locked(session, campaign_id)  # so that two people cannot propose one cause at once
    row, device, report = await results.result_of(session, campaign_id)
    cause = next((one for one in report.causes if one.id == body.cause), None)
    if cause is None:
        raise NotFound(f"The report has no cause {body.cause}.")
    earlier = await repository.of_cause(session, campaign_id, cause.id)
    if earlier is not None:
        raise AlreadyProposed(f"Cause {cause.id} is rule {name_of(earlier)}, which is {earlier.state}.")
    try:
        candidate = cause_rule.draft(cause, report, None if device is None else device.model)
    except NoRule as why:
        raise NoRuleForCause(str(why)) from None
    rule = RuleRow(
        id=uuid4(),
        state=RuleState.proposed,
        campaign_id=campaign_id,
        cause=cause.id,
        cause_text=cause.text,
        device=row.device,
        body={},
        not_checked=list(candidate.not_checked),
        evidence=RuleEvidence.model_validate(cause, from_attributes=True).model_dump(mode="json"),
        proposed_by=caller.actor,
        proposed_at=clock.now(),
    )
    await repository.add(session, rule)
    rule.body = _named(candidate.rule, name_of(rule), body.title)
    await session.flush()
    audit.record(
        session, caller.actor, "lab.propose_rule", name_of(rule), address=caller.address, campaign_id=str(campaign_id), cause=cause.id
    )
    return shown(rule)


def name_of(row: RuleRow) -> str:
    """The rule's name in findings. A rule never changes, so its version is 1."""
    return f"L{row.number}/1"


def _named(rule: dict[str, Any], name: str, title: str | None) -> dict[str, Any]:
    return {**rule, "title": title or rule["title"], "definition": {**rule["definition"], "rule": name}}


async def accept(session: WriteSession, caller: Caller, rule_id: UUID, comment: str) -> LabRule:
    """Accept a rule: classify detects it from its next start on."""
    row = await _require(session, rule_id)
    _, problem = _read(row)
    if problem is not None:
        raise RuleUnusable(f"Rule {name_of(row)}: {problem}.")
    return await _decide(session, caller, row, RuleState.accepted, comment)


async def reject(session: WriteSession, caller: Caller, rule_id: UUID, comment: str) -> LabRule:
    """Reject a rule, one that was accepted too: classify forgets it at its next start."""
    return await _decide(session, caller, await _require(session, rule_id), RuleState.rejected, comment)


async def _require(session: WriteSession, rule_id: UUID) -> RuleRow:
    row = await repository.one_locked(session, rule_id)
    if row is None:
        raise NotFound(f"There is no rule {rule_id}.")
    return row


async def _decide(session: WriteSession, caller: Caller, row: RuleRow, state: RuleState, comment: str) -> LabRule:
    if row.state == state:
        raise AlreadyDecided(f"{row.decided_by} {state} rule {name_of(row)} already.")
    before = row.state
    row.state, row.decided_by, row.decided_at, row.comment = state, caller.actor, clock.now(), comment
    await session.flush()
    action = "lab.accept_rule" if state is RuleState.accepted else "lab.reject_rule"
    audit.record(session, caller.actor, action, name_of(row), address=caller.address, before=before, comment=comment)
    return shown(row)


async def list_rules(session: ReadSession, state: RuleState | None, campaign_id: UUID | None) -> LabRules:
    return LabRules(items=[shown(row) for row in await repository.all_rules(session, state, campaign_id, MOST_RULES)])


async def export(session: ReadSession) -> str:
    """The accepted rules as YAML, in the form of the catalogue."""
    rows = sorted(await repository.all_rules(session, RuleState.accepted, None, MOST_RULES), key=lambda row: row.number)
    comments = ["Rules that operators accepted, in the form of `also` of `unexplained` in symptoms.yaml."]
    comments += [f"{name_of(row)}: {row.cause_text} Accepted by {row.decided_by}: {row.comment}" for row in rows]
    read = [_read(row)[0] for row in rows]
    return dump([rule for rule in read if rule is not None], comments)


def _read(row: RuleRow) -> tuple[AnotherRule | None, str | None]:
    """The rule, and what this version of Wallwatch cannot do with it."""
    try:
        rule = AnotherRule.model_validate(row.body)
    except ValidationError as error:
        first = error.errors()[0]
        return None, f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return rule, problem_of(rule)


def shown(row: RuleRow) -> LabRule:
    """A row as the API shows it."""
    rule, problem = _read(row)
    return LabRule(
        id=row.id,
        name=name_of(row),
        title=str(row.body.get("title", "")),
        state=RuleState(row.state),
        problem=problem,
        campaign_id=row.campaign_id,
        cause=row.cause,
        cause_text=row.cause_text,
        device=row.device,
        models=list(row.body.get("models") or ()),
        not_checked=row.not_checked,
        evidence=RuleEvidence.model_validate(row.evidence),
        yaml="" if rule is None else dump([rule]),
        proposed_by=row.proposed_by,
        proposed_at=row.proposed_at,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        comment=row.comment,
    )
