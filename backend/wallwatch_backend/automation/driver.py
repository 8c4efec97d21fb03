"""Carries out the rules that are on: mask plan where that is the remedy, dry run, apply, take back what does not work.

All it knows is in the database, so another replica, or this one after a restart, goes on where it was.
"""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import structlog

from wallwatch_backend.automation import repository, running
from wallwatch_backend.automation.choosing import Place, chosen, in_window
from wallwatch_backend.automation.models import RuleRow, RunRow
from wallwatch_backend.automation.running import end, enter
from wallwatch_backend.automation.schemas import RunState
from wallwatch_backend.automation.service import matchers_of, places_of
from wallwatch_backend.control import repository as admission
from wallwatch_backend.control.errors import BreakerOpen, Stopped, TooManyAtOnce
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.plans import repository as mask_plans
from wallwatch_backend.plans import service as plans
from wallwatch_backend.plans.errors import PlanExpired, PlanInProgress
from wallwatch_backend.plans.schemas import NewPlan
from wallwatch_backend.remedies import actions, present
from wallwatch_backend.remedies import repository as remedies
from wallwatch_backend.remedies import service as orders
from wallwatch_backend.remedies.errors import RemedyInProgress
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.schemas import Mode, NewRemedy
from wallwatch_backend.remedies.signing import CommandSigner
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)

_DRY_RUN_IS_GOOD_FOR = timedelta(minutes=15)
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
            triggers = set() if held else {rule.trigger for rule in rules}
            places = {trigger: await places_of(session, trigger) for trigger in triggers}
        for rule in rules:
            if found := places.get(rule.trigger):
                await self._begin(rule, found)
        for run_id in under_way:
            async with self._database.write() as writing:
                await self._step(writing, run_id, clock.now())

    async def _begin(self, rule: RuleRow, found: list[Place]) -> None:
        """Begin wherever the rule is to act and does not yet: ask for a mask plan, or order a dry run."""
        at = clock.now()
        if not in_window(at, rule.window_from, rule.window_to):
            return
        on_rnic = actions.action_of(rule.action).scope == "rnic"
        places = chosen(matchers_of(rule), found, on_rnic=on_rnic)
        if not places:
            return
        async with self._database.read() as session:
            left_alone = await repository.places_since(session, rule.id, at - timedelta(seconds=rule.cooldown_s))
            room = self._settings.remedy_max_hosts - (await repository.open_counts(session, [rule.id])).get(rule.id, 0)
        wanted = [place for place in places if (place.host, place.pci if on_rnic else "") not in left_alone]
        for place in wanted[: max(room, 0)]:
            try:
                async with self._database.write() as writing:
                    await self._open(writing, rule, place, on_rnic=on_rnic, at=at)
            except (RemedyInProgress, PlanInProgress):
                continue  # somebody is at it; the next look may find it over
            except WallwatchError as error:
                log.warning("automation_not_begun", rule=rule.name, host=place.host, why=error.detail)

    async def _open(self, session: WriteSession, rule: RuleRow, place: Place, *, on_rnic: bool, at: datetime) -> None:
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
            steps=[],
        )
        if rule.action == actions.MASK_PLAN:
            await self._ask_for_plan(session, current, run, "Had the flows read, for a mask plan.", at)
        else:
            await self._dry_run(session, current, run, place.pci, at)
        await repository.add(session, run)

    async def _ask_for_plan(self, session: WriteSession, rule: RuleRow, run: RunRow, text: str, at: datetime) -> None:
        wanted = NewPlan(host=run.host, pci=run.pci, incident_id=run.incident_id)
        made = await plans.make(session, self._settings, self._signer, running.caller_of(rule), wanted, "policy")
        run.plan_id, run.dry_run_id = made.id, None
        enter(run, RunState.planning, text, at, plan_id=made.id)

    async def _dry_run(self, session: WriteSession, rule: RuleRow, run: RunRow, pci: str, at: datetime) -> None:
        run.dry_run_id = await self._order(session, rule, run, "dry_run", pci)
        enter(run, RunState.planning, "Ordered a dry run.", at, remedy_id=run.dry_run_id)

    async def _order(self, session: WriteSession, rule: RuleRow, run: RunRow, mode: Mode, pci: str) -> UUID:
        params = {"plan": str(run.plan_id)} if rule.action == actions.MASK_PLAN else rule.params
        order = NewRemedy(action=rule.action, host=run.host, pci=pci or None, params=params, incident_id=run.incident_id, mode=mode)
        return (await orders.create(session, self._settings, self._signer, running.caller_of(rule), order, None)).id

    async def _step(self, session: WriteSession, run_id: UUID, at: datetime) -> None:
        rule = await repository.rule_kept(session, run_id)
        run = await repository.run_locked(session, run_id) if rule is not None else None
        if run is None or rule is None:
            return
        before = run.state, run.message, len(run.steps)
        if run.state in (RunState.planning, RunState.waiting):
            await self._before_order(session, rule, run, at)
        elif run.remedy_id is None or (remedy := await remedies.one(session, run.remedy_id)) is None:
            end(run, rule, RunState.gave_up, "The remedy is not known any more.", at)
        else:
            await self._after_order(session, rule, run, remedy, at)
        if (run.state, run.message, len(run.steps)) != before:
            run.updated_at = at

    async def _before_order(self, session: WriteSession, rule: RuleRow, run: RunRow, at: datetime) -> None:
        """Nothing is applied yet: go on with what is ready, for as long as it is wanted."""
        dry_run = await remedies.one(session, run.dry_run_id) if run.dry_run_id is not None else None
        if dry_run is not None or run.plan_id is None:
            ready, why = running.after_dry_run(dry_run)
        else:
            ready, why = running.after_plan(await mask_plans.one(session, run.plan_id))
        if (
            why is not None
            and dry_run is not None
            and dry_run.state == "refused"
            and run.plan_id is not None
            and running.may_plan_again(run)
        ):
            await self._plan_again(session, rule, run, why, at)  # flows came and went since it was made
        elif why is not None or (ready and (why := await self._not_wanted(session, rule, run, dry_run, at)) is not None):
            end(run, rule, RunState.gave_up, why, at)
        elif ready:
            try:
                async with session.begin_nested():
                    await self._next(session, rule, run, dry_run, at)
            except (TooManyAtOnce, Stopped, BreakerOpen, RemedyInProgress) as held:
                enter(run, RunState.waiting, held.detail or held.title, at)
            except PlanExpired as old:
                if running.may_plan_again(run):
                    await self._plan_again(session, rule, run, old.title, at)
                else:
                    end(run, rule, RunState.gave_up, f"{old.title}: {old.detail}", at)
            except WallwatchError as refused:
                end(run, rule, RunState.gave_up, refused.detail or refused.title, at)

    async def _not_wanted(self, session: WriteSession, rule: RuleRow, run: RunRow, dry_run: RemedyRow | None, at: datetime) -> str | None:
        """Why what is ready is not carried on; None when it is."""
        if not rule.enabled:
            return "The rule was switched off before anything was applied."
        if run.finding_id is None and not await repository.still_declining(session, run.host, run.pci, at):
            return "The forecast has no decline any more."
        if run.finding_id is not None and not await repository.still_wanted(session, run.finding_id):
            return "The symptom is over, or somebody has taken or silenced the incident."
        late = dry_run is not None and at - dry_run.updated_at > _DRY_RUN_IS_GOOD_FOR
        if late or not in_window(at, rule.window_from, rule.window_to):
            return f"Too late to apply what was planned. {run.message or ''}".strip()
        return None

    async def _next(self, session: WriteSession, rule: RuleRow, run: RunRow, dry_run: RemedyRow | None, at: datetime) -> None:
        """After the mask plan its dry run, after the dry run the remedy."""
        if dry_run is None:
            await self._dry_run(session, rule, run, run.pci, at)
            return
        run.remedy_id = await self._order(session, rule, run, "apply", dry_run.pci or "")
        enter(run, RunState.applying, "Ordered the remedy.", at, remedy_id=run.remedy_id)

    async def _plan_again(self, session: WriteSession, rule: RuleRow, run: RunRow, why: str, at: datetime) -> None:
        try:
            async with session.begin_nested():
                await self._ask_for_plan(session, rule, run, f"Had the flows read again, for a new mask plan. {why}", at)
        except PlanInProgress:
            return  # somebody has another one made; the next look may find it done
        except WallwatchError as refused:
            end(run, rule, RunState.gave_up, refused.detail or refused.title, at)

    async def _after_order(self, session: WriteSession, rule: RuleRow, run: RunRow, remedy: RemedyRow, at: datetime) -> None:
        """Take what was applied to its end: verified by telemetry, or taken back."""
        commands = await remedies.commands(session, [remedy.id])
        if remedy.state == "proposed":
            enter(run, run.state, "It waits for a second person's approval.", at)
        elif remedy.state in ("verified", "undone"):
            end(run, rule, RunState(remedy.state), None, at)
        elif remedy.state in ("refused", "rejected"):
            end(run, rule, RunState.gave_up, remedy.message or remedy.state, at)
        elif remedy.state not in _WORKED_NOT or any(c.operation == "undo" and c.state in remedies.OPEN for c in commands):
            return
        elif run.state == RunState.undoing:
            undo = next((c for c in reversed(commands) if c.operation == "undo"), None)
            end(run, rule, RunState.gave_up, f"It did not work and could not be undone: {undo.message or undo.state if undo else '?'}", at)
        elif not present.undoable(remedy, commands):
            end(run, rule, RunState.gave_up, f"It did not work ({remedy.message or remedy.state}); there is nothing to undo.", at)
        else:
            await orders.undo(session, self._settings, self._signer, running.caller_of(rule), remedy.id)
            enter(run, RunState.undoing, f"It did not work: {remedy.message or remedy.state.replace('_', ' ')}.", at)
