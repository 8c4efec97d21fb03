"""Ordering, approving, pausing and stopping rollouts. What drives them from wave to wave is `driver`."""

from typing import Any
from uuid import UUID, uuid4

from wallwatch_backend.audit import service as audit
from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.remedies import actions, approval
from wallwatch_backend.remedies.errors import IncidentUnknown, NoAgent, SecondPersonNeeded
from wallwatch_backend.rollouts import present, repository, telling
from wallwatch_backend.rollouts import undo as undoing
from wallwatch_backend.rollouts.errors import WrongState
from wallwatch_backend.rollouts.models import RolloutRow
from wallwatch_backend.rollouts.schemas import UNDOABLE_FROM, NewRollout, Rollout, RolloutState, UndoRollout
from wallwatch_backend.rollouts.standing import can_be_taken_back
from wallwatch_backend.rollouts.waves import waves_of
from wallwatch_backend.settings import Settings
from wallwatch_backend.webhooks.schemas import EventType


async def create(session: WriteSession, settings: Settings, caller: Caller, body: NewRollout) -> Rollout:
    """Check every target now, so that no wave fails for what could be known before the first."""
    action = actions.action_of(body.action)
    enrolled = await repository.hosts_with_agents(session, {target.host for target in body.targets})
    for target in body.targets:
        actions.checked_params(action, target.pci, body.params)
        if target.host not in enrolled:
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


async def approve(session: WriteSession, caller: Caller, rollout_id: UUID, comment: str | None = None) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.proposed)
    if await approval.same_person(session, caller.actor, row.requested_by):
        raise SecondPersonNeeded(f"{row.requested_by} ordered it; a token counts as the person who made it.")
    row.state, row.decided_by, row.decided_at = RolloutState.running, caller.actor, row.updated_at
    row.decision_comment = comment
    _record(session, caller, row, "approve", requested_by=row.requested_by, comment=comment)
    await telling.tell(session, EventType.rollout_started, row)
    return await present.one(session, row)


async def reject(session: WriteSession, caller: Caller, rollout_id: UUID, reason: str) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.proposed)
    row.state, row.message, row.decided_by, row.decided_at = RolloutState.rejected, reason, caller.actor, row.updated_at
    row.decision_comment = reason
    _record(session, caller, row, "reject", reason=reason)
    await telling.tell(session, EventType.rollout_rejected, row)
    return await present.one(session, row)


async def pause(session: WriteSession, caller: Caller, rollout_id: UUID) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.running, RolloutState.undoing)
    _record(session, caller, row, "pause")
    said = f"Paused by {caller.actor}."
    if row.state == RolloutState.undoing:
        await undoing.pause(session, row, said, row.updated_at)
    else:
        row.state, row.message = RolloutState.paused, said
        await telling.tell(session, EventType.rollout_paused, row)
    return await present.one(session, row)


async def resume(session: WriteSession, caller: Caller, rollout_id: UUID) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.paused, RolloutState.undo_paused)
    if row.state == RolloutState.undo_paused:
        undoing.go_on(row, row.updated_at)
    else:
        row.state, row.message = RolloutState.running, None
    _record(session, caller, row, "resume")
    await telling.tell(session, EventType.rollout_resumed, row)
    return await present.one(session, row)


async def stop(session: WriteSession, caller: Caller, rollout_id: UUID, reason: str, *, undo: bool) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.running, RolloutState.paused)
    await stop_row(session, caller, row, reason, undo=undo)
    return await present.one(session, row)


async def stop_row(session: WriteSession, caller: Caller, row: RolloutRow, reason: str, *, undo: bool) -> None:
    """End a rollout; with `undo` take back what it has done, if there is anything."""
    row.state, row.message, row.updated_at = RolloutState.stopped, reason, clock.now()
    _record(session, caller, row, "stop", reason=reason, undo=undo)
    await telling.tell(session, EventType.rollout_stopped, row)
    if undo and can_be_taken_back(row.action, await repository.remedies_of(session, [row.id])):
        await undoing.begin(session, caller, row, UndoRollout(reason=reason[:200]))


async def undo(session: WriteSession, caller: Caller, rollout_id: UUID, body: UndoRollout) -> Rollout:
    row = await _in_state(session, rollout_id, *sorted(UNDOABLE_FROM))
    await undoing.begin(session, caller, row, body)
    return await present.one(session, row)


async def get(session: ReadSession, rollout_id: UUID) -> Rollout:
    row = await repository.one(session, rollout_id)
    if row is None:
        raise NotFound(f"There is no rollout {rollout_id}.")
    return await present.one(session, row)


async def list_rollouts(session: ReadSession, *, limit: int, cursor: str | None) -> Page[Rollout]:
    rows = await repository.page(session, before=time_and_id(cursor), limit=limit + 1)
    items = await present.many(session, rows[:limit])
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)
