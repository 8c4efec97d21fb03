"""Carries out the rules that are on: dry run, apply, take back what does not work. All it knows is in the database."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import structlog
from prometheus_client import Counter

from wallwatch_backend.automation import repository
from wallwatch_backend.automation.choosing import Place, chosen, in_window
from wallwatch_backend.automation.models import RuleRow, RunRow
from wallwatch_backend.automation.schemas import RunState
from wallwatch_backend.automation.service import matchers_of
from wallwatch_backend.control import repository as admission
from wallwatch_backend.control.errors import BreakerOpen, Stopped, TooManyAtOnce
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller, Role
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.remedies import actions, present
from wallwatch_backend.remedies import repository as remedies
from wallwatch_backend.remedies import service as orders
from wallwatch_backend.remedies.errors import RemedyInProgress
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.schemas import Mode, NewRemedy
from wallwatch_backend.remedies.signing import CommandSigner
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
RUNS = Counter("wallwatch_automation_runs", "Attempts of the automatic mode that ended", ["action", "state"])

_PLAN_IS_GOOD_FOR = timedelta(minutes=15)
"""What a dry run has shown may be otherwise later."""
_WORKED_NOT = ("not_verified", "failed", "expired")


class AutomationDriver:
    """Looks for places at which rules are to act, and takes what they began to its end, every `remedy_watch_s`."""

    def __init__(self, database: Database, settings: Settings, signer: CommandSigner) -> None:
        self._database, self._settings, self._signer = database, settings, signer

    async def run(self) -> None:
        while True:
            await self.once()
            await asyncio.sleep(self._settings.remedy_watch_s)

    async def once(self) -> None:
        async with self._database.read() as session:
            rules = await repository.rules(session, enabled=True)
            under_way = await repository.open_runs(session)
            held = not rules or await admission.stop_in_force(session) is not None
            findings = [] if held else await repository.active_findings(session)
        for rule in rules if findings else ():
            await self._begin(rule, [*findings])
        for run_id in under_way:
            async with self._database.write() as writing:
                await self._step(writing, run_id, clock.now())

    async def _begin(self, rule: RuleRow, findings: list[Place]) -> None:
        """Order a dry run wherever the rule is to act and does not yet."""
        at = clock.now()
        if not in_window(at, rule.window_from, rule.window_to):
            return
        on_rnic = actions.action_of(rule.action).scope == "rnic"
        places = chosen(matchers_of(rule), findings, on_rnic=on_rnic)
        if not places:
            return
        async with self._database.read() as session:
            left_alone = await repository.places_since(session, rule.id, at - timedelta(seconds=rule.cooldown_s))
            room = self._settings.remedy_max_hosts - (await repository.open_counts(session, [rule.id])).get(rule.id, 0)
        wanted = [place for place in places if (place.host, place.pci if on_rnic else "") not in left_alone]
        for place in wanted[: max(room, 0)]:
            try:
                async with self._database.write() as writing:
                    await self._plan(writing, rule, place, on_rnic=on_rnic, at=at)
            except RemedyInProgress:
                continue  # somebody is at it; the next look may find it over
            except WallwatchError as error:
                log.warning("automation_not_begun", rule=rule.name, host=place.host, why=error.detail)

    async def _plan(self, session: WriteSession, rule: RuleRow, place: Place, *, on_rnic: bool, at: datetime) -> None:
        current = await repository.rule_locked(session, rule.id)
        if current is None or not current.enabled or current.updated_at != rule.updated_at:
            return
        run = RunRow(
            id=uuid4(),
            rule_id=rule.id,
            finding_id=place.finding_id,
            incident_id=place.incident_id,
            host=place.host,
            pci=place.pci if on_rnic else "",
            state=RunState.planning,
            created_at=at,
            updated_at=at,
        )
        run.dry_run_id = await self._order(session, current, run, "dry_run", place.pci)
        await repository.add(session, run)

    async def _order(self, session: WriteSession, rule: RuleRow, run: RunRow, mode: Mode, pci: str) -> UUID:
        order = NewRemedy(action=rule.action, host=run.host, pci=pci or None, params=rule.params, incident_id=run.incident_id, mode=mode)
        return (await orders.create(session, self._settings, self._signer, caller_of(rule), order, None)).id

    async def _step(self, session: WriteSession, run_id: UUID, at: datetime) -> None:
        run = await repository.run_locked(session, run_id)
        rule = await repository.rule(session, run.rule_id) if run is not None else None
        if run is None or rule is None:
            return
        before = run.state, run.message
        if run.state in (RunState.planning, RunState.waiting):
            await self._after_plan(session, rule, run, at)
        elif run.remedy_id is None or (remedy := await remedies.one(session, run.remedy_id)) is None:
            _end(run, rule, RunState.gave_up, "The remedy is not known any more.", at)
        else:
            await self._after_order(session, rule, run, remedy, at)
        if (run.state, run.message) != before:
            run.updated_at = at

    async def _after_plan(self, session: WriteSession, rule: RuleRow, run: RunRow, at: datetime) -> None:
        """Apply what the dry run has shown to be possible, as soon as it may be."""
        plan = await remedies.one(session, run.dry_run_id)
        if plan is None or plan.state not in ("pending", "dispatched", "planned"):
            why = "is not known any more" if plan is None else plan.message or plan.state
            _end(run, rule, RunState.gave_up, f"Dry run: {why}", at)
        elif plan.state == "planned" and not rule.enabled:
            _end(run, rule, RunState.gave_up, "The rule was switched off before anything was applied.", at)
        elif plan.state == "planned" and not await repository.still_wanted(session, run.finding_id):
            _end(run, rule, RunState.gave_up, "The symptom is over, or somebody has taken or silenced the incident.", at)
        elif plan.state == "planned" and (at - plan.updated_at > _PLAN_IS_GOOD_FOR or not in_window(at, rule.window_from, rule.window_to)):
            _end(run, rule, RunState.gave_up, f"Too late to apply what was planned. {run.message or ''}".strip(), at)
        elif plan.state == "planned":
            try:
                run.remedy_id = await self._order(session, rule, run, "apply", plan.pci or "")
                run.state, run.message = RunState.applying, None
            except (TooManyAtOnce, Stopped, BreakerOpen, RemedyInProgress) as held:
                run.state, run.message = RunState.waiting, held.detail or held.title
            except WallwatchError as refused:
                _end(run, rule, RunState.gave_up, refused.detail or refused.title, at)

    async def _after_order(self, session: WriteSession, rule: RuleRow, run: RunRow, remedy: RemedyRow, at: datetime) -> None:
        """Take what was applied to its end: verified by telemetry, or taken back."""
        commands = await remedies.commands(session, [remedy.id])
        if remedy.state == "proposed":
            run.message = "It waits for a second person's approval."
        elif remedy.state in ("verified", "undone"):
            _end(run, rule, RunState.verified if remedy.state == "verified" else RunState.undone, run.message, at)
        elif remedy.state in ("refused", "rejected"):
            _end(run, rule, RunState.gave_up, remedy.message or remedy.state, at)
        elif remedy.state not in _WORKED_NOT or any(c.operation == "undo" and c.state in remedies.OPEN for c in commands):
            return
        elif run.state == RunState.undoing:
            undo = next((c for c in reversed(commands) if c.operation == "undo"), None)
            _end(run, rule, RunState.gave_up, f"It did not work and could not be undone: {undo.message or undo.state if undo else '?'}", at)
        elif not present.undoable(remedy, commands):
            _end(run, rule, RunState.gave_up, f"It did not work ({remedy.message or remedy.state}); there is nothing to undo.", at)
        else:
            await orders.undo(session, self._settings, self._signer, caller_of(rule), remedy.id)
            run.state, run.message = RunState.undoing, f"It did not work: {remedy.message or remedy.state.replace('_', ' ')}."


def _end(run: RunRow, rule: RuleRow, state: RunState, message: str | None, at: datetime) -> None:
    run.state, run.message, run.ended_at = state, message, at
    RUNS.labels(rule.action, str(state)).inc()


def caller_of(rule: RuleRow) -> Caller:
    """Under whose name a rule orders."""
    return Caller(kind="user", id=rule.id, name=f"automation:{rule.name}", role=Role.operator, address=None)
