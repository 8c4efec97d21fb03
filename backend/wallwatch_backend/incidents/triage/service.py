"""What people do with one incident."""

from typing import Any
from uuid import UUID

from wallwatch_backend.incidents import events, finding_repository, present, recommended, repository
from wallwatch_backend.incidents.errors import AlreadyResolved
from wallwatch_backend.incidents.listing import assignees
from wallwatch_backend.incidents.rules import unsuppressed_state
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.incidents.service import record_action, require_for_change
from wallwatch_backend.incidents.silences import enforcement
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.incidents.triage.schemas import IncidentChange
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.notify.schemas import EventType


async def acknowledge(session: WriteSession, caller: Caller, incident_id: UUID, if_match: str | None) -> Incident:
    """Acknowledge it. An unassigned incident is assigned to the user who does so, never to a token."""
    row = await require_for_change(session, incident_id, if_match)
    if row.state == IncidentState.resolved:
        raise AlreadyResolved("A resolved incident cannot be acknowledged.")
    if row.acknowledged_by is not None:
        return await present.full(session, row)
    at = clock.now()
    row.acknowledged_at, row.acknowledged_by = at, caller.actor
    if row.state != IncidentState.suppressed:  # an acknowledgement does not end a silence
        row.state = IncidentState.acknowledged
    if row.assignee is None and caller.kind == "user":
        row.assignee = caller.actor
        events.note(session, row, at, "acknowledged", f"Acknowledged. {assigned_text(row.assignee)}", caller.actor)
    else:
        events.note(session, row, at, "acknowledged", "Acknowledged.", caller.actor)
    record_action(session, caller, "acknowledge", row)
    return await events.publish_full(session, row, EventType.updated, at)


async def unacknowledge(session: WriteSession, caller: Caller, incident_id: UUID, if_match: str | None) -> Incident:
    """Remove the acknowledgement, and the assignment to the user who gave it."""
    row = await require_for_change(session, incident_id, if_match)
    if row.state == IncidentState.resolved:
        raise AlreadyResolved("A resolved incident has no acknowledgement to remove; reopen it instead.")
    if row.acknowledged_by is None:
        return await present.full(session, row)
    at = clock.now()
    if row.assignee == row.acknowledged_by:
        row.assignee = None
    row.acknowledged_at = row.acknowledged_by = None
    if row.state != IncidentState.suppressed:
        row.state = unsuppressed_state(row)
    events.note(session, row, at, "unacknowledged", "Unacknowledged.", caller.actor)
    record_action(session, caller, "unacknowledge", row)
    return await events.publish_full(session, row, EventType.updated, at)


async def resolve(session: WriteSession, caller: Caller, incident_id: UUID, if_match: str | None) -> Incident:
    row = await require_for_change(session, incident_id, if_match)
    if row.state == IncidentState.resolved:
        return await present.full(session, row)
    at = clock.now()
    row.state, row.resolved_at, row.resolved_by = IncidentState.resolved, at, caller.actor
    row.suppressed_by = row.suppressed_at = None
    still = " The symptom was still present." if row.active else ""
    events.note(session, row, at, "resolved", f"Resolved by hand.{still}", caller.actor)
    record_action(session, caller, "resolve", row, active=row.active)
    return await events.publish_full(session, row, EventType.resolved, at)


async def reopen(session: WriteSession, caller: Caller, incident_id: UUID, if_match: str | None) -> Incident:
    await repository.lock_grouping(session)  # applying findings locks in the same order
    row = await require_for_change(session, incident_id, if_match)
    if row.state != IncidentState.resolved:
        return await present.full(session, row)
    at = clock.now()
    row.state, row.reopened = IncidentState.reopened, row.reopened + 1
    row.resolved_at = row.resolved_by = row.acknowledged_at = row.acknowledged_by = None
    row.cleared_at = None  # otherwise the hold time would resolve it at once
    await finding_repository.end_inhibition(session, [row.id])
    events.note(session, row, at, "reopened", "Reopened by hand.", caller.actor)
    record_action(session, caller, "reopen", row)
    await enforcement.apply_to_incident(session, row, at)
    return await events.publish_full(session, row, EventType.opened, at)


async def comment(session: WriteSession, caller: Caller, incident_id: UUID, text: str, if_match: str | None) -> Incident:
    row = await require_for_change(session, incident_id, if_match)
    at = clock.now()
    events.note(session, row, at, "comment", text, caller.actor)
    record_action(session, caller, "comment", row)
    return await events.publish_full(session, row, None, at)


async def derive_again(session: WriteSession, caller: Caller, incident_id: UUID, if_match: str | None) -> Incident:
    """Replace the recommended values by those of the newest measurements; nothing changes if they are the same."""
    row = await require_for_change(session, incident_id, if_match)
    at = clock.now()
    newest = recommended.derived(await finding_repository.suggestions(session, row), at)
    changes = recommended.replaced(row.recommended, newest)
    if not changes:
        return await present.full(session, row)
    row.recommended = {**row.recommended, **newest}
    events.note(session, row, at, "derived", f"Recommended values derived again: {'; '.join(changes)}.", caller.actor)
    record_action(session, caller, "derive_again", row, changes=changes)
    return await events.publish_full(session, row, EventType.updated, at)


async def update(session: WriteSession, caller: Caller, incident_id: UUID, change: IncidentChange, if_match: str | None) -> Incident:
    row = await require_for_change(session, incident_id, if_match)
    at = clock.now()
    changed: dict[str, Any] = {}
    if "assignee" in change.model_fields_set and change.assignee != row.assignee:
        if change.assignee is not None:
            await assignees.require(session, change.assignee)
        row.assignee = changed["assignee"] = change.assignee
        events.note(session, row, at, "assigned", assigned_text(change.assignee), caller.actor)
    if change.external_refs is not None:
        refs = [ref.model_dump() for ref in change.external_refs]
        if refs != row.external_refs:
            row.external_refs = changed["external_refs"] = refs
            linked = ", ".join(f"{ref['system']} {ref['key']}" for ref in refs)
            events.note(session, row, at, "ticket", f"Tickets: {linked}." if refs else "Tickets removed.", caller.actor, refs=refs)
    if not changed:
        return await present.full(session, row)
    record_action(session, caller, "update", row, changed=changed)
    return await events.publish_full(session, row, EventType.updated, at)


def assigned_text(assignee: str | None) -> str:
    return f"Assigned to {assignee}." if assignee is not None else "Unassigned."
