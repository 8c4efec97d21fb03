"""Creates, approves, pauses and stops rollouts. `worker` takes them from wave to wave."""

from typing import Any
from uuid import UUID, uuid4

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.session import persons
from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.remedies.orders import actions
from wallwatch_backend.remedies.orders.errors import IncidentUnknown, NoAgent, SecondPersonNeeded
from wallwatch_backend.remedies.rollouts import notifications, present, repository
from wallwatch_backend.remedies.rollouts import undo as undoing
from wallwatch_backend.remedies.rollouts.errors import WrongState
from wallwatch_backend.remedies.rollouts.models import RolloutRow
from wallwatch_backend.remedies.rollouts.schemas import NewRollout, Rollout, UndoRollout
from wallwatch_backend.remedies.rollouts.states import ROLLOUT, UNDOABLE, RolloutState
from wallwatch_backend.remedies.rollouts.undo_targets import can_be_undone
from wallwatch_backend.remedies.rollouts.waves import waves_of
from wallwatch_backend.settings import Settings


async def create(session: WriteSession, settings: Settings, caller: Caller, body: NewRollout) -> Rollout:
    """Create a rollout. Every target is checked now, so that no wave fails for a reason known before the first."""
    action = actions.action_of(body.action)
    enrolled = await repository.hosts_with_agents(session, {target.host for target in body.targets})
    for target in body.targets:
        actions.checked_params(action, target.pci, body.params)
        if target.host not in enrolled:
            raise NoAgent(f"{target.host} has no agent: enrol one first, or omit the host.")
    if body.incident_id is not None and await incidents.get(session, body.incident_id) is None:
        raise IncidentUnknown(f"There is no incident {body.incident_id}.")
    needs_approval = actions.needs_approval(action, settings) or (
        settings.remedy_approval_risk != "never" and len(body.targets) > settings.remedy_always_hosts
    )
    at = clock.now()
    row = RolloutRow(
        id=uuid4(),
        action=body.action,
        params=body.params,
        waves=[[target.model_dump() for target in wave] for wave in waves_of(body.targets, body.canary, body.growth)],
        state=RolloutState.pending if needs_approval else RolloutState.running,
        wave=0,
        incident_id=body.incident_id,
        reason=body.reason,
        undo_on_stop=body.undo_on_stop,
        not_before=body.not_before,
        not_after=body.not_after,
        requested_by=caller.actor,
        requester_ids=sorted(await persons.accounts_behind(session, caller)),
        created_at=at,
        updated_at=at,
    )
    await repository.add(session, row)
    _record(
        session, caller, row, "propose" if needs_approval else "start", params=body.params, targets=len(body.targets), reason=body.reason
    )
    await notifications.notify(session, row)
    return await present.rollout(session, row)


def _record(session: WriteSession, caller: Caller, row: RolloutRow, what: str, **detail: Any) -> None:
    audit.record(session, caller.actor, f"rollout.{what}", str(row.id), address=caller.address, remedy_action=row.action, **detail)


async def _in_state(session: WriteSession, rollout_id: UUID, *states: RolloutState) -> RolloutRow:
    row = await repository.one_locked(session, rollout_id)
    if row is None:
        raise NotFound(f"There is no rollout {rollout_id}.")
    if row.state not in states:
        allowed = " or ".join(ROLLOUT[state].label.lower() for state in states)
        raise WrongState(f"The rollout {ROLLOUT[row.state].sentence}; this requires one that is {allowed}.")
    row.updated_at = clock.now()
    return row


async def approve(session: WriteSession, caller: Caller, rollout_id: UUID, comment: str | None = None) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.pending)
    if await persons.is_requester(session, caller, row.requested_by, row.requester_ids):
        raise SecondPersonNeeded(f"{row.requested_by} requested it; a token counts as its owner and whoever created it.")
    row.state, row.decided_by, row.decided_at = RolloutState.running, caller.actor, row.updated_at
    row.decision_comment = comment
    _record(session, caller, row, "approve", requested_by=row.requested_by, comment=comment)
    await notifications.notify(session, row)
    return await present.rollout(session, row)


async def reject(session: WriteSession, caller: Caller, rollout_id: UUID, reason: str) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.pending)
    row.state, row.message, row.decided_by, row.decided_at = RolloutState.rejected, reason, caller.actor, row.updated_at
    row.decision_comment = reason
    _record(session, caller, row, "reject", reason=reason)
    await notifications.notify(session, row)
    return await present.rollout(session, row)


async def pause(session: WriteSession, caller: Caller, rollout_id: UUID) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.running, RolloutState.undoing)
    _record(session, caller, row, "pause")
    message = f"Paused by {caller.actor}."
    if row.state == RolloutState.undoing:
        await undoing.pause(session, row, message, row.updated_at)
    else:
        row.state, row.message = RolloutState.paused, message
        await notifications.notify(session, row)
    return await present.rollout(session, row)


async def resume(session: WriteSession, caller: Caller, rollout_id: UUID) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.paused, RolloutState.undo_paused)
    if row.state == RolloutState.undo_paused:
        undoing.continue_undo(row, row.updated_at)
    else:
        row.state, row.message = RolloutState.running, None
    _record(session, caller, row, "resume")
    await notifications.notify(session, row)
    return await present.rollout(session, row)


async def stop(session: WriteSession, caller: Caller, rollout_id: UUID, reason: str, *, undo: bool) -> Rollout:
    row = await _in_state(session, rollout_id, RolloutState.running, RolloutState.paused)
    await stop_row(session, caller, row, reason, undo=undo)
    return await present.rollout(session, row)


async def stop_row(session: WriteSession, caller: Caller, row: RolloutRow, reason: str, *, undo: bool) -> None:
    """End a rollout; with `undo` roll back what it has done, if anything."""
    row.state, row.message, row.updated_at = RolloutState.stopped, reason, clock.now()
    _record(session, caller, row, "stop", reason=reason, undo=undo)
    await notifications.notify(session, row)
    if undo and can_be_undone(row.action, await repository.remedies_of(session, [row.id])):
        await undoing.begin(session, caller, row, UndoRollout(reason=reason[:200]))


async def undo(session: WriteSession, caller: Caller, rollout_id: UUID, body: UndoRollout) -> Rollout:
    row = await _in_state(session, rollout_id, *UNDOABLE)
    await undoing.begin(session, caller, row, body)
    return await present.rollout(session, row)


async def get(session: ReadSession, rollout_id: UUID) -> Rollout:
    row = await repository.one(session, rollout_id)
    if row is None:
        raise NotFound(f"There is no rollout {rollout_id}.")
    return await present.rollout(session, row)


async def list_rollouts(session: ReadSession, *, limit: int, cursor: str | None) -> Page[Rollout]:
    rows = await repository.page(session, before=time_and_id(cursor), limit=limit + 1)
    items = await present.rollouts(session, rows[:limit])
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)
