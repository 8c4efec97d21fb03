"""What people do with incidents."""

from collections.abc import Sequence
from uuid import UUID

from wallwatch_backend.incidents import events, present, repository
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.schemas import Incident, IncidentState, IncidentSummary
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound, WallwatchError
from wallwatch_backend.webhooks.schemas import EventType


class AlreadyResolved(WallwatchError):
    status, code, title = 409, "already_resolved", "The incident is resolved"


async def list_incidents(
    session: ReadSession,
    *,
    states: Sequence[IncidentState] | None,
    host: str | None,
    pci: str | None,
    symptom: str | None,
    severity: str | None,
    limit: int,
    cursor: str | None,
) -> Page[IncidentSummary]:
    rows = await repository.page(
        session,
        states=[str(state) for state in states] if states else None,
        host=host,
        pci=pci,
        symptom=symptom,
        severity=severity,
        before=time_and_id(cursor),
        limit=limit + 1,
    )
    items = [present.summary(row) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].opened_at, str(items[-1].id)) if len(rows) > limit else None)


def _found(row: IncidentRow | None, incident_id: UUID) -> IncidentRow:
    if row is None:
        raise NotFound(f"There is no incident {incident_id}.")
    return row


async def get_incident(session: ReadSession, incident_id: UUID) -> Incident:
    return await present.full(session, _found(await repository.one(session, incident_id), incident_id))


async def acknowledge(session: WriteSession, caller: Caller, incident_id: UUID) -> Incident:
    row = _found(await repository.one_locked(session, incident_id), incident_id)
    if row.state == "resolved":
        raise AlreadyResolved("A resolved incident cannot be acknowledged.")
    if row.state == "acknowledged":
        return await present.full(session, row)
    at = clock.now()
    row.state, row.acknowledged_at, row.acknowledged_by, row.updated_at = "acknowledged", at, caller.actor, at
    events.note(session, row, at, "acknowledged", "Acknowledged.", caller.actor)
    return await events.publish(session, row, EventType.updated, at)


async def resolve(session: WriteSession, caller: Caller, incident_id: UUID) -> Incident:
    row = _found(await repository.one_locked(session, incident_id), incident_id)
    if row.state == "resolved":
        return await present.full(session, row)
    at = clock.now()
    row.state, row.resolved_at, row.resolved_by, row.updated_at = "resolved", at, caller.actor, at
    still = " The symptom was still present." if row.active else ""
    events.note(session, row, at, "resolved", f"Resolved by hand.{still}", caller.actor)
    return await events.publish(session, row, EventType.resolved, at)


async def comment(session: WriteSession, caller: Caller, incident_id: UUID, text: str) -> Incident:
    row = _found(await repository.one_locked(session, incident_id), incident_id)
    at = clock.now()
    row.updated_at = at
    events.note(session, row, at, "comment", text, caller.actor)
    return await events.publish(session, row, None, at)


async def note_remedy(session: WriteSession, incident_id: UUID | None, actor: str, text: str) -> None:
    """Tell the incident's timeline what a remedy did; nothing to do for a remedy without an incident."""
    if incident_id is None:
        return
    row = await repository.one(session, incident_id)
    if row is not None:
        at = clock.now()
        events.note(session, row, at, "remedy", text, actor)
        await events.publish(session, row, None, at)
