"""Creates, changes, enables and disables automation rules. `worker` carries them out."""

from uuid import UUID, uuid4

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.matchers import Matcher
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.remedies.automation import repository
from wallwatch_backend.remedies.automation.errors import NameTaken, NothingToMatch
from wallwatch_backend.remedies.automation.models import RuleRow
from wallwatch_backend.remedies.automation.rules import Place, chosen
from wallwatch_backend.remedies.automation.schemas import NewRule, Rule, RulePreview, Run
from wallwatch_backend.remedies.orders import actions
from wallwatch_backend.remedies.orders.errors import BadParameter
from wallwatch_backend.settings import Settings

_ANY_PCI = "0000:00:00.0"
_MOST_SHOWN = 100


def _check(body: NewRule) -> None:
    """Refuse a rule whose remedy could never be created, and one that matches everything."""
    action = actions.action_of(body.action)
    if action.id == actions.MASK_PLAN:
        if body.params:
            raise BadParameter("params: must be empty; a new plan is computed each time, from the current flows")
    else:
        actions.checked_params(action, _ANY_PCI if action.scope == "rnic" else None, body.params)
    if body.trigger == "decline":
        if not body.matchers:
            raise NothingToMatch("Add a matcher, such as rack = r1; host =~ .* is the whole fleet.")
    elif not any(matcher.name in ("symptom", "cause") and matcher.op in ("=", "=~") for matcher in body.matchers):
        raise NothingToMatch("Add a matcher for a symptom or cause, such as symptom = S1.")


def _shown(row: RuleRow, settings: Settings, open_runs: int) -> Rule:
    fields = {name: getattr(row, name) for name in Rule.model_fields if name not in ("needs_approval", "open_runs")}
    return Rule.model_validate(
        {**fields, "needs_approval": actions.needs_approval(actions.action_of(row.action), settings), "open_runs": open_runs}
    )


async def _one(session: ReadSession, row: RuleRow, settings: Settings) -> Rule:
    return _shown(row, settings, (await repository.open_counts(session, [row.id])).get(row.id, 0))


async def _locked(session: WriteSession, rule_id: UUID) -> RuleRow:
    row = await repository.rule_locked(session, rule_id)
    if row is None:
        raise NotFound(f"There is no rule {rule_id}.")
    return row


async def list_rules(session: ReadSession, settings: Settings) -> list[Rule]:
    rows = await repository.rules(session)
    counts = await repository.open_counts(session, [row.id for row in rows])
    return [_shown(row, settings, counts.get(row.id, 0)) for row in rows]


async def create(session: WriteSession, settings: Settings, caller: Caller, body: NewRule) -> Rule:
    """Create a rule; it is disabled."""
    _check(body)
    at = clock.now()
    values = body.model_dump(mode="json")
    row = RuleRow(id=uuid4(), enabled=False, created_by=caller.actor, created_at=at, updated_at=at, **values)
    if not await repository.add(session, row):
        raise NameTaken(f"Another rule is named {body.name!r}.")
    audit.record(session, caller.actor, "automation.create", body.name, address=caller.address, rule_id=str(row.id), rule=values)
    return await _one(session, row, settings)


async def change(session: WriteSession, settings: Settings, caller: Caller, rule_id: UUID, body: NewRule) -> Rule:
    """Change a rule. It is disabled afterwards: whoever enabled it has not seen the new content."""
    _check(body)
    row = await _locked(session, rule_id)
    other = await repository.named(session, body.name)
    if other is not None and other.id != row.id:
        raise NameTaken(f"Another rule is named {body.name!r}.")
    values = body.model_dump(mode="json")
    for name, value in values.items():
        setattr(row, name, value)
    row.enabled, row.enabled_by, row.enabled_at, row.updated_at = False, None, None, clock.now()
    audit.record(session, caller.actor, "automation.change", body.name, address=caller.address, rule_id=str(row.id), rule=values)
    return await _one(session, row, settings)


async def switch(session: WriteSession, settings: Settings, caller: Caller, rule_id: UUID, *, on: bool) -> Rule:
    """Enable or disable a rule. Remedies that it has requested continue; nothing new is applied while it is disabled."""
    row = await _locked(session, rule_id)
    if row.enabled != on:
        at = clock.now()
        row.enabled, row.updated_at = on, at
        row.enabled_by, row.enabled_at = (caller.actor, at) if on else (None, None)
        what = "automation.enable" if on else "automation.disable"
        audit.record(session, caller.actor, what, row.name, address=caller.address, rule_id=str(row.id), remedy_action=row.action)
    return await _one(session, row, settings)


async def delete(session: WriteSession, caller: Caller, rule_id: UUID) -> None:
    row = await _locked(session, rule_id)
    audit.record(session, caller.actor, "automation.delete", row.name, address=caller.address, rule_id=str(row.id))
    await session.delete(row)


async def preview(session: ReadSession, body: NewRule) -> RulePreview:
    """Return where a rule would act now."""
    _check(body)
    on_rnic = actions.action_of(body.action).scope == "rnic"
    candidates = await places_of(session, body.trigger)
    places = [f"{p.host} {p.pci}".strip() for p in chosen(body.matchers, candidates, on_rnic=on_rnic)]
    return RulePreview(places=places[:_MOST_SHOWN], total=len(places))


async def places_of(session: ReadSession, trigger: str) -> list[Place]:
    """Where rules with this trigger could act now."""
    return [*(await repository.declining(session, clock.now()) if trigger == "decline" else await repository.active_findings(session))]


def matchers_of(row: RuleRow) -> list[Matcher]:
    return [Matcher.model_validate(matcher) for matcher in row.matchers]


async def people_behind(session: ReadSession, name: str) -> set[str]:
    """Actors behind a rule: who created it, and who enabled it."""
    rule = await repository.named(session, name)
    return set() if rule is None else {actor for actor in (rule.created_by, rule.enabled_by) if actor is not None}


async def list_runs(session: ReadSession, rule_id: UUID, limit: int, cursor: str | None) -> Page[Run]:
    if await repository.rule(session, rule_id) is None:
        raise NotFound(f"There is no rule {rule_id}.")
    rows = await repository.page(session, rule_id, time_and_id(cursor), limit + 1)
    items = [Run.model_validate(row, from_attributes=True) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)
