"""Plans the flows that agents sent, and proves again what was applied. One replica does it."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from prometheus_client import Counter
from sqlalchemy.exc import SQLAlchemyError

from wallwatch_backend.fleet.profiles import peers
from wallwatch_backend.fleet.rnics.service import identity_of
from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.incidents.service import note_remedy
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.kit.process_pool import TookTooLong, run_in_process
from wallwatch_backend.remedies.orders import service as remedies
from wallwatch_backend.remedies.orders.actions import MASK_PLAN
from wallwatch_backend.remedies.orders.schemas import NewRemedy
from wallwatch_backend.remedies.plans import declines, planning_process, repository, service
from wallwatch_backend.remedies.plans.models import PlanRow
from wallwatch_backend.remedies.plans.states import PlanState
from wallwatch_backend.remedies.states import RemedyState
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
PLANS = Counter("wallwatch_plans", "Mask plans that were computed", ["state"])

PERIOD_S = 0.5
PLAN_S, CHECK_S = 60.0, 60.0
"""15,000 flows take some seconds; a busy machine several times that."""
FORGET_EVERY, KEPT = timedelta(minutes=10), timedelta(days=1)


class Planner:
    """Looks for work twice a second."""

    def __init__(self, database: Database, settings: Settings, signer: CommandSigner) -> None:
        self._database, self._settings, self._signer = database, settings, signer
        self._forgot_at = clock.now()

    async def run(self) -> None:
        while True:
            await self.once()
            await asyncio.sleep(PERIOD_S)

    async def once(self) -> None:
        async with self._database.read() as session:
            waiting = await repository.waiting(session)
            unread = await repository.never_read(session)
            to_check = await repository.to_check(session)
        for plan_id, state, message in unread:
            await self._give_up(plan_id, state, message)
        for plan_id in waiting:
            await self._plan(plan_id)
        for plan_id in to_check:
            await self._check(plan_id)
        if self._settings.plan_on_decline:
            await declines.request_plans(self._database, self._settings, self._signer)
        if clock.now() - self._forgot_at > FORGET_EVERY:
            self._forgot_at = clock.now()
            async with self._database.write() as writing:
                await repository.forget_before(writing, self._forgot_at - KEPT)

    async def _give_up(self, plan_id: UUID, state: str, message: str | None) -> None:
        async with self._database.write() as session:
            row = await repository.one_locked(session, plan_id)
            if row is None or row.state != PlanState.reading:
                return
            row.state, row.code = PlanState.failed, "flows_not_read"
            row.message = (
                "The agent answered, but its flows were lost on the way; create the plan again."
                if state == RemedyState.planned
                else f"The agent did not read the flows ({state}): {message or 'no reason given'}"
            )
            await self._changed(session, row)

    async def _plan(self, plan_id: UUID) -> None:
        planned = await self._compute(plan_id)
        if planned is None:
            return
        async with self._database.write() as session:
            again = await repository.one_locked(session, plan_id)
            if again is None or again.state != PlanState.planning:
                return
            self._note(again, planned)
            PLANS.labels(again.state).inc()
            await self._changed(session, again)
            await note_remedy(session, again.incident_id, "wallwatch", _sentence(again))
        if again.state == PlanState.ready and again.then != "nothing":
            await self._follow(again)

    async def _compute(self, plan_id: UUID) -> planning_process.Planned | None:
        """Compute a plan, or return why there is none. No error of one plan keeps the next one from being computed."""
        try:
            async with self._database.read() as session:
                row = await repository.one(session, plan_id, whole=True)
                if row is None or row.flows is None:
                    return None
                profile = await service.profile_of(session, row)
                rnic_id = (await identity_of(session, row.host, row.pci)).rnic_id
                remote = (await peers.remote_queries(session, [rnic_id], clock.now())).get(rnic_id)
                q_r = None if remote is None else remote.mean
            flows, capacity = row.flows, row.hyper_capacity
            return await run_in_process(PLAN_S, "The plan", planning_process.plan, flows, row.id, row.host, row.pci, profile, capacity, q_r)
        except WallwatchError as problem:
            return planning_process.Planned(None, None, [], failure=problem.detail)
        except (SQLAlchemyError, OSError):
            raise  # the database is unreachable; tried again
        except Exception as problem:
            log.exception("plan_failed", plan_id=str(plan_id))
            return planning_process.Planned(
                None, None, [], failure=f"The planner failed, a defect of Wallwatch: {type(problem).__name__}: {problem}"
            )

    def _note(self, row: PlanRow, planned: planning_process.Planned) -> None:
        at = clock.now()
        row.flows_at, row.flows_sha256, row.ports = planned.flows_at, planned.flows_sha256, planned.ports
        row.report, row.operations, row.operations_sha256 = planned.report, planned.operations, planned.operations_sha256
        row.expires_at = at + timedelta(seconds=self._settings.plan_ttl_s)
        if planned.report is None:
            row.state, row.code, row.message = PlanState.failed, "flows_unusable", planned.failure
        elif not planned.report["offered"]:
            row.state, row.code, row.message = PlanState.not_proven, "plan_not_proven", _why_not_proven(planned.report["proof"])
        else:
            row.state = PlanState.ready

    async def _follow(self, row: PlanRow) -> None:
        """Request what follows a plan that is worthwhile."""
        if row.report is None or not row.report["worthwhile"] or row.operations_sha256 is None:
            return
        order = NewRemedy(
            action=MASK_PLAN,
            host=row.host,
            pci=row.pci,
            params={"plan": str(row.id)},
            incident_id=row.incident_id,
            mode="dry_run" if row.then == "dry_run" else "apply",
            propose=row.then == "propose",
        )
        try:
            async with self._database.write() as session:
                await remedies.create(session, self._settings, self._signer, service.caller_of(row), order, None)
        except WallwatchError as refused:
            log.warning("plan_not_followed", plan_id=str(row.id), then=row.then, why=refused.detail)
            async with self._database.write() as session:
                again = await repository.one_locked(session, row.id)
                if again is not None:
                    again.message = f"The plan is ready, but its {again.then.replace('_', ' ')} was refused: {refused.detail}"
                    await self._changed(session, again)

    async def _check(self, plan_id: UUID) -> None:
        async with self._database.read() as session:
            row = await repository.one(session, plan_id, whole=True)
        if row is None or row.flows_after is None:
            return
        check: dict[str, Any] = {"state": "not_checked", "message": "The flows from before the plan are no longer stored."}
        if row.flows is not None and row.operations is not None:
            try:
                check = await run_in_process(CHECK_S, "The proof", planning_process.check, row.flows, row.flows_after, row.operations)
            except TookTooLong as problem:
                check = {"state": "not_checked", "message": problem.detail}
            except Exception as problem:
                log.exception("plan_not_checked", plan_id=str(plan_id))
                why = f"The proof failed, a defect of Wallwatch: {type(problem).__name__}: {problem}"
                check = {"state": "not_checked", "message": why}
        async with self._database.write() as session:
            again = await repository.one_locked(session, plan_id)
            if again is None or again.aftermath is None or again.aftermath.get("command_id") != (row.aftermath or {}).get("command_id"):
                return
            again.flows_after = None
            again.aftermath = {**again.aftermath, **check, "at": clock.now().isoformat()}
            await self._changed(session, again)
            if check["state"] == "different":
                await note_remedy(session, again.incident_id, "wallwatch", check["message"])

    async def _changed(self, session: WriteSession, row: PlanRow) -> None:
        row.updated_at = clock.now()
        await changes.announce(session, "plan", row.id, row.state)


def _why_not_proven(proof: dict[str, Any]) -> str:
    example = proof["counterexample"]
    if example is None:
        return f"Could not decide whether it changes what happens to packets: {proof['reason']}."
    packet = ", ".join(f"{name}={value}" for name, value in example["packet"].items())
    return f"The packet {packet} would be treated differently: {example['before']['actions']} before, {example['after']['actions']} after."


def _sentence(row: PlanRow) -> str:
    if row.report is None or row.state != PlanState.ready:
        return f"There is no mask plan: {row.message}"
    if row.operations_sha256 is None:
        return "A mask plan was created: the masks are already in the best order."
    gain, saved = (row.report["expected"][name] for name in ("bandwidth_gain", "latency_gain"))
    words = [
        f"{value:+.1%} {what}" for value, what in ((gain, "bandwidth"), (None if saved is None else -saved, "latency")) if value is not None
    ]
    return f"A mask plan was created and proven: {', '.join(words) or 'nothing to gain without traffic'}."
