"""Ordering, approving, pausing and stopping rollouts. What drives them from wave to wave is `driver`."""

from typing import Any
from uuid import UUID, uuid4

from wallwatch_backend.agents import repository as agents
from wallwatch_backend.audit import service as audit
from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound, WallwatchError
from wallwatch_backend.remedies import actions, approval
from wallwatch_backend.remedies import present as orders_shown
from wallwatch_backend.remedies import repository as remedies
from wallwatch_backend.remedies import service as orders
from wallwatch_backend.remedies.errors import IncidentUnknown, NoAgent, SecondPersonNeeded
from wallwatch_backend.remedies.signing import CommandSigner
from wallwatch_backend.rollouts import present, repository, telling
from wallwatch_backend.rollouts.errors import WrongState
from wallwatch_backend.rollouts.models import RolloutRow
from wallwatch_backend.rollouts.schemas import NewRollout, Rollout, RolloutState
from wallwatch_backend.rollouts.waves import waves_of
from wallwatch_backend.settings import Settings
from wallwatch_backend.webhooks.schemas import EventType


async def create(session: WriteSession, settings: Settings, caller: Caller, body: NewRollout) -> Rollout:
    """Check every target now, so that no wave fails for what could be known before the first."""
    action = actions.action_of(body.action)
    for target in body.targets:
        actions.checked_params(action, target.pci, body.params)
        if await agents.by_host(session, target.host) is None:
            raise NoAgent(f"{target.host} has no agent: enrol one first, or leave it out.")
    if body.incident_id is not None and await incidents.one(session, body.incident_id) is None:
        raise IncidentUnknown(f"There is no incident {body.incident_id}.")
    proposed = actions.needs_approval(action, settings) or (
        settings.remedy_approval_risk != "never" and len(body.targets) > settings.remedy_always_hosts
    )
    at = clock.now()
    row = RolloutRow(
        id=uuid4(),
        action=body.action,
        params=body.params,
        waves=[[target.model_dump() for target in wave] for wave in waves_of(body.targets, body.canary, body.growth)],
        state=RolloutState.proposed if proposed else RolloutState.running,
        wave=0,
        incident_id=body.incident_id,
        reason=body.reason,
        undo_on_stop=body.undo_on_stop,
        not_before=body.not_before,
        not_after=body.not_after,
        requested_by=caller.actor,
        created_at=at,
        updated_at=at,
    )
    await repository.add(session, row)
    _record(session, caller, row, "propose" if proposed else "start", params=body.params, targets=len(body.targets), reason=body.reason)
    await telling.tell(session, EventType.rollout_proposed if proposed else EventType.rollout_started, row)
    return await present.one(session, row)


def _record(session: WriteSession, caller: Caller, row: RolloutRow, what: str, **detail: Any) -> None:
    audit.record(session, caller.actor, f"rollout.{what}", str(row.id), address=caller.address, remedy_action=row.action, **detail)


async def _in_state(session: WriteSession, rollout_id: UUID, *states: RolloutState) -> RolloutRow:
    row = await repository.one_locked(session, rollout_id)
    if row is None:
        raise NotFound(f"There is no rollout {rollout_id}.")
    if row.state not in states:
        raise WrongState(f"The rollout is {row.state}; this needs one that is {' or '.join(states)}.")
    row.updated_at = clock.now()
    return row


async def approve(session: WriteSession, caller: Caller, rollout_id: UUID) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.proposed)
    if await approval.same_person(session, caller.actor, row.requested_by):
        raise SecondPersonNeeded(f"{row.requested_by} ordered it; a token counts as the person who made it.")
    row.state, row.decided_by, row.decided_at = RolloutState.running, caller.actor, row.updated_at
    _record(session, caller, row, "approve", requested_by=row.requested_by)
    await telling.tell(session, EventType.rollout_started, row)
    return await present.one(session, row)


async def reject(session: WriteSession, caller: Caller, rollout_id: UUID, reason: str) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.proposed)
    row.state, row.message, row.decided_by, row.decided_at = RolloutState.rejected, reason, caller.actor, row.updated_at
    _record(session, caller, row, "reject", reason=reason)
    await telling.tell(session, EventType.rollout_rejected, row)
    return await present.one(session, row)


async def pause(session: WriteSession, caller: Caller, rollout_id: UUID) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.running)
    row.state, row.message = RolloutState.paused, f"Paused by {caller.actor}."
    _record(session, caller, row, "pause")
    await telling.tell(session, EventType.rollout_paused, row)
    return await present.one(session, row)


async def resume(session: WriteSession, caller: Caller, rollout_id: UUID) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.paused)
    row.state, row.message = RolloutState.running, None
    _record(session, caller, row, "resume")
    await telling.tell(session, EventType.rollout_resumed, row)
    return await present.one(session, row)


async def stop(
    session: WriteSession, settings: Settings, signer: CommandSigner, caller: Caller, rollout_id: UUID, reason: str, *, undo: bool
) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.running, RolloutState.paused)
    await stop_row(session, settings, signer, caller, row, reason, undo=undo)
    return await present.one(session, row)


async def stop_row(
    session: WriteSession, settings: Settings, signer: CommandSigner, caller: Caller, row: RolloutRow, reason: str, *, undo: bool
) -> None:
    """End a rollout; with `undo` ask each host that can to put back what was changed. What cannot be undone is named in the audit log."""
    row.state, row.message, row.updated_at = RolloutState.stopped, reason, clock.now()
    not_undone: list[str] = []
    for remedy in await repository.remedies_of(session, [row.id]) if undo else ():
        if not orders_shown.undoable(remedy, await remedies.commands(session, [remedy.id])):
            continue
        try:
            await orders.undo(session, settings, signer, caller, remedy.id)
        except WallwatchError as error:
            not_undone.append(f"{remedy.host}: {error.detail}")
    _record(session, caller, row, "stop", reason=reason, undo=undo, not_undone=not_undone)
    await telling.tell(session, EventType.rollout_stopped, row)


async def get(session: ReadSession, rollout_id: UUID) -> Rollout:
    row = await repository.one(session, rollout_id)
    if row is None:
        raise NotFound(f"There is no rollout {rollout_id}.")
    return await present.one(session, row)


async def list_rollouts(session: ReadSession, *, limit: int, cursor: str | None) -> Page[Rollout]:
    rows = await repository.page(session, before=time_and_id(cursor), limit=limit + 1)
    items = await present.many(session, rows[:limit])
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)
