"""Takes rollouts from wave to wave, stops or rolls them back. Runs on one replica at a time; all state is in the database."""

import asyncio
from datetime import datetime
from uuid import UUID

import structlog
from prometheus_client import Counter

from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller, Role
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.notify.schemas import EventType
from wallwatch_backend.remedies.control.errors import BreakerOpen, Stopped, TooManyAtOnce
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import service as orders
from wallwatch_backend.remedies.orders.schemas import NewRemedy
from wallwatch_backend.remedies.rollouts import notifications, repository, service, undo
from wallwatch_backend.remedies.rollouts.models import RolloutRow
from wallwatch_backend.remedies.rollouts.states import RolloutState
from wallwatch_backend.remedies.rollouts.waves import judge
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
ENDED = Counter("wallwatch_rollouts_ended", "Rollouts that the worker ended", ["state"])


class RolloutDriver:
    """Takes every rollout forward or back, every `remedy_watch_s`."""

    def __init__(self, database: Database, settings: Settings, signer: CommandSigner) -> None:
        self._database, self._settings, self._signer = database, settings, signer

    async def run(self) -> None:
        while True:
            await self.once()
            await asyncio.sleep(self._settings.remedy_watch_s)

    async def once(self) -> None:
        async with self._database.read() as session:
            under_way = await repository.under_way(session)
        for rollout_id in under_way:
            async with self._database.write() as writing:
                await self._step(writing, rollout_id, clock.now())

    async def _step(self, session: WriteSession, rollout_id: UUID, at: datetime) -> None:
        row = await repository.one_locked(session, rollout_id)
        if row is not None and row.state == RolloutState.undoing:
            await undo.step(session, self._settings, self._signer, row, _caller(row, (row.undo or {})["by"]), at)
            return
        if row is None or row.state != RolloutState.running or (row.not_before is not None and at < row.not_before):
            return
        remedies = await repository.remedies_of(session, [row.id])
        present = [remedy for remedy in remedies if remedy.rollout_wave == row.wave]
        verdict, why = judge({f"{r.host} {r.pci or ''}".strip(): r.state for r in present}, len(row.waves[row.wave]))
        if verdict != "stop" and row.wave_began_at is not None:
            hosts = sorted({r.host for r in remedies})
            symptom = await repository.symptom_since(session, hosts, row.wave_began_at)
            if symptom is None and verdict == "next" and await repository.any_inhibited(session, hosts, row.wave_began_at):
                return  # it clears, or is raised and stops the rollout
            if symptom is not None:
                verdict, why = "stop", f"{symptom[0]} began on {symptom[1]} after the wave did"
        if verdict == "stop":
            await self._stop(session, row, why)
        elif verdict == "next" and row.wave + 1 == len(row.waves):
            row.state, row.updated_at = RolloutState.confirmed, at
            await notifications.notify_of_wave(session, row, EventType.rollout_wave_confirmed)
            await notifications.notify(session, row)
            ENDED.labels(row.state).inc()
        else:
            if verdict == "next":
                await notifications.notify_of_wave(session, row, EventType.rollout_wave_confirmed)
                row.wave, row.wave_began_at, present = row.wave + 1, None, []
            await self._go_on(session, row, present, at)

    async def _go_on(self, session: WriteSession, row: RolloutRow, present: list[RemedyRow], at: datetime) -> None:
        """Request the remedies that the wave still lacks, as far as the limits allow."""
        if not present and row.not_after is not None and at >= row.not_after:
            await self._pause(session, row, "Its maintenance window has ended.", at)
            return
        reached = {(remedy.host, remedy.pci) for remedy in present}
        for target in row.waves[row.wave]:
            if (target["host"], target["pci"]) in reached:
                continue
            order = NewRemedy(action=row.action, params=row.params, mode="apply", incident_id=row.incident_id, **target)
            try:
                await orders.create(
                    session, self._settings, self._signer, _caller(row, row.requested_by), order, None, part_of=(row.id, row.wave)
                )
            except TooManyAtOnce:
                return  # the rest when others have finished
            except Stopped as stopped:
                await self._pause(session, row, stopped.detail, at)
                return
            except (BreakerOpen, WallwatchError) as refused:
                await self._stop(session, row, f"{target['host']}: {refused.detail}")
                return
            row.updated_at = at
            if row.wave_began_at is None:
                row.wave_began_at = at
                await notifications.notify_of_wave(session, row, EventType.rollout_wave_started)

    async def _pause(self, session: WriteSession, row: RolloutRow, why: str, at: datetime) -> None:
        row.state, row.message, row.updated_at = RolloutState.paused, why, at
        await notifications.notify(session, row)

    async def _stop(self, session: WriteSession, row: RolloutRow, why: str) -> None:
        await service.stop_row(session, _caller(row, row.requested_by), row, why, undo=row.undo_on_stop)
        ENDED.labels(row.state).inc()
        log.warning("rollout_stopped", rollout_id=str(row.id), action=row.action, wave=row.wave, why=why)


def _caller(row: RolloutRow, name: str) -> Caller:
    """Remedies of a rollout are requested by its requester, undos by whoever rolled it back; the rollout says who approved it."""
    people = frozenset(row.requester_ids) if name == row.requested_by else frozenset[UUID]()
    return Caller(kind="user", id=row.id, name=name, role=Role.operator, address=None, people=people)
