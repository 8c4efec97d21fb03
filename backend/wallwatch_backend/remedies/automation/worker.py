"""Carries out the enabled rules: mask plan (where that is the remedy), dry run, apply, and undo of what does not work.

All state is in the database, so another replica, or this one after a restart, continues where it stopped.
"""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import structlog

from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.remedies.automation import repository, runs
from wallwatch_backend.remedies.automation.models import RuleRow, RunRow
from wallwatch_backend.remedies.automation.rules import Place, chosen, in_window
from wallwatch_backend.remedies.automation.runs import end, enter
from wallwatch_backend.remedies.automation.service import matchers_of, places_of
from wallwatch_backend.remedies.automation.states import RunState
from wallwatch_backend.remedies.control import repository as admission
from wallwatch_backend.remedies.control.errors import BreakerOpen, Stopped, TooManyAtOnce
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import actions, present
from wallwatch_backend.remedies.orders import repository as remedies
from wallwatch_backend.remedies.orders import service as orders
from wallwatch_backend.remedies.orders.errors import RemedyInProgress
from wallwatch_backend.remedies.orders.schemas import Mode, NewRemedy
from wallwatch_backend.remedies.plans import repository as mask_plans
from wallwatch_backend.remedies.plans import service as plans
from wallwatch_backend.remedies.plans.errors import PlanExpired, PlanInProgress
from wallwatch_backend.remedies.plans.schemas import NewPlan
from wallwatch_backend.remedies.states import OPEN_COMMAND, REMEDY, WORKED, RemedyState
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)

_DRY_RUN_IS_GOOD_FOR = timedelta(minutes=15)
"""What a dry run has shown may no longer hold later."""
_TO_UNDO = REMEDY.where(lambda state: state.outcome == "bad" and state.undoable)
"""States of a remedy that the rule undoes."""


class AutomationDriver:
    """Looks for places where rules must act, and takes open runs to their end, every `remedy_watch_s`."""

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
        """Open a run wherever the rule must act and does not yet: request a mask plan, or a dry run."""
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
                continue  # something is under way there; a later look may find it over
            except WallwatchError as error:
                log.warning("automation_not_started", rule=rule.name, host=place.host, why=error.detail)

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
            await self._request_plan(session, current, run, "Requested a mask plan.", at)
        else:
            await self._dry_run(session, current, run, place.pci, at)
        await repository.add(session, run)

    async def _request_plan(self, session: WriteSession, rule: RuleRow, run: RunRow, text: str, at: datetime) -> None:
        wanted = NewPlan(host=run.host, pci=run.pci, incident_id=run.incident_id)
        plan = await plans.create(session, self._settings, self._signer, runs.caller_of(rule), wanted, "policy")
        run.plan_id, run.dry_run_id = plan.id, None
        enter(run, RunState.planning, text, at, plan_id=plan.id)

    async def _dry_run(self, session: WriteSession, rule: RuleRow, run: RunRow, pci: str, at: datetime) -> None:
        run.dry_run_id = await self._create_remedy(session, rule, run, "dry_run", pci)
        enter(run, RunState.planning, "Requested a dry run.", at, remedy_id=run.dry_run_id)

    async def _create_remedy(self, session: WriteSession, rule: RuleRow, run: RunRow, mode: Mode, pci: str) -> UUID:
        params = {"plan": str(run.plan_id)} if rule.action == actions.MASK_PLAN else rule.params
        order = NewRemedy(action=rule.action, host=run.host, pci=pci or None, params=params, incident_id=run.incident_id, mode=mode)
        return (await orders.create(session, self._settings, self._signer, runs.caller_of(rule), order, None)).id

    async def _step(self, session: WriteSession, run_id: UUID, at: datetime) -> None:
        rule = await repository.rule_kept(session, run_id)
        run = await repository.run_locked(session, run_id) if rule is not None else None
        if run is None or rule is None:
            return
        before = run.state, run.message, len(run.steps)
        if run.state in (RunState.planning, RunState.waiting):
            await self._before_order(session, rule, run, at)
        elif run.remedy_id is None or (remedy := await remedies.one(session, run.remedy_id)) is None:
            end(run, rule, RunState.gave_up, "The remedy no longer exists.", at)
        else:
            await self._after_order(session, rule, run, remedy, at)
        if (run.state, run.message, len(run.steps)) != before:
            run.updated_at = at

    async def _before_order(self, session: WriteSession, rule: RuleRow, run: RunRow, at: datetime) -> None:
        """Nothing is applied yet: continue with what is ready, while it is still wanted."""
        dry_run = await remedies.one(session, run.dry_run_id) if run.dry_run_id is not None else None
        if dry_run is not None or run.plan_id is None:
            ready, why = runs.after_dry_run(dry_run)
        else:
            ready, why = runs.after_plan(await mask_plans.one(session, run.plan_id))
        if (
            why is not None
            and dry_run is not None
            and dry_run.state == RemedyState.refused
            and run.plan_id is not None
            and runs.may_plan_again(run)
        ):
            await self._plan_again(session, rule, run, why, at)  # flows have changed since it was computed
        elif why is not None or (ready and (why := await self._not_wanted(session, rule, run, dry_run, at)) is not None):
            end(run, rule, RunState.gave_up, why, at)
        elif ready:
            try:
                async with session.begin_nested():
                    await self._next(session, rule, run, dry_run, at)
            except (TooManyAtOnce, Stopped, BreakerOpen, RemedyInProgress) as held:
                enter(run, RunState.waiting, held.detail or held.title, at)
            except PlanExpired as old:
                if runs.may_plan_again(run):
                    await self._plan_again(session, rule, run, old.title, at)
                else:
                    end(run, rule, RunState.gave_up, f"{old.title}: {old.detail}", at)
            except WallwatchError as refused:
                end(run, rule, RunState.gave_up, refused.detail or refused.title, at)

    async def _not_wanted(self, session: WriteSession, rule: RuleRow, run: RunRow, dry_run: RemedyRow | None, at: datetime) -> str | None:
        """Return why what is ready must not continue; None when it may."""
        if not rule.enabled:
            return "The rule was disabled before anything was applied."
        if run.finding_id is None and not await repository.still_declining(session, run.host, run.pci, at):
            return "The decline is no longer predicted."
        if run.finding_id is not None and not await repository.still_wanted(session, run.finding_id):
            return "The symptom has cleared, or somebody has acknowledged or silenced the incident."
        late = dry_run is not None and at - dry_run.updated_at > _DRY_RUN_IS_GOOD_FOR
        if late or not in_window(at, rule.window_from, rule.window_to):
            return f"Too late to apply it. {run.message or ''}".strip()
        return None

    async def _next(self, session: WriteSession, rule: RuleRow, run: RunRow, dry_run: RemedyRow | None, at: datetime) -> None:
        """After the mask plan its dry run, after the dry run the remedy."""
        if dry_run is None:
            await self._dry_run(session, rule, run, run.pci, at)
            return
        run.remedy_id = await self._create_remedy(session, rule, run, "apply", dry_run.pci or "")
        enter(run, RunState.applying, "Requested the remedy.", at, remedy_id=run.remedy_id)

    async def _plan_again(self, session: WriteSession, rule: RuleRow, run: RunRow, why: str, at: datetime) -> None:
        try:
            async with session.begin_nested():
                await self._request_plan(session, rule, run, f"Requested another mask plan. {why}", at)
        except PlanInProgress:
            return  # somebody else has requested one; a later look may find it done
        except WallwatchError as refused:
            end(run, rule, RunState.gave_up, refused.detail or refused.title, at)

    async def _after_order(self, session: WriteSession, rule: RuleRow, run: RunRow, remedy: RemedyRow, at: datetime) -> None:
        """Follow what was applied to its end: confirmed, or undone."""
        commands = await remedies.commands(session, [remedy.id])
        if remedy.state == RemedyState.pending:
            enter(run, run.state, "Waiting for a second person's approval.", at)
        elif remedy.state in WORKED or remedy.state == RemedyState.undone:
            end(run, rule, RunState(remedy.state), None, at)
        elif not REMEDY[remedy.state].over or any(command.operation == "undo" and command.state in OPEN_COMMAND for command in commands):
            return
        elif remedy.state not in _TO_UNDO:
            end(run, rule, RunState.gave_up, remedy.message or f"The remedy {REMEDY[remedy.state].sentence}.", at)
        elif run.state == RunState.undoing:
            undo = next((command for command in reversed(commands) if command.operation == "undo"), None)
            end(run, rule, RunState.gave_up, f"It did not work and could not be undone: {undo.message or undo.state if undo else '?'}", at)
        elif not present.undoable(remedy, commands):
            end(
                run,
                rule,
                RunState.gave_up,
                f"It did not work ({remedy.message or REMEDY[remedy.state].sentence}); there is nothing to undo.",
                at,
            )
        else:
            await orders.undo(session, self._settings, self._signer, runs.caller_of(rule), remedy.id)
            enter(run, RunState.undoing, f"It did not work: {remedy.message or REMEDY[remedy.state].sentence}.", at)
