"""What people do with one incident, and lists of them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.audit import service as audit
from wallwatch_backend.incidents import events, members, present, repository
from wallwatch_backend.incidents.errors import AlreadyResolved, MergedAway
from wallwatch_backend.incidents.filters import IncidentFilter, ListQuery
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.requests import Facets, IncidentChange, IncidentChanges, IncidentCounts
from wallwatch_backend.incidents.schemas import Incident, IncidentSummary
from wallwatch_backend.kit import clock, etags
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.paging import BadCursor, Page, decode_cursor, encode_cursor
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.silences import enforcement
from wallwatch_backend.webhooks.schemas import EventType


def _after(query: ListQuery) -> tuple[Any, ...] | None:
    """The sort key in the cursor; one that was made under another sorting is refused."""
    if query.cursor is None:
        return None
    kinds = (str, int, datetime, str) if query.sort == "severity" else (str, datetime, str)
    sort, *key = decode_cursor(query.cursor, *kinds)
    if sort != f"{query.sort} {query.order}":
        raise BadCursor("This cursor belongs to another sorting; begin at the first page.")
    try:
        return (*key[:-1], UUID(str(key[-1])))
    except ValueError as error:
        raise BadCursor from error


def _cursor(query: ListQuery, row: IncidentRow) -> str:
    key = (int(row.severity == "critical"), row.opened_at) if query.sort == "severity" else (getattr(row, query.sort),)
    return encode_cursor(f"{query.sort} {query.order}", *key, str(row.id))


async def list_incidents(session: ReadSession, query: ListQuery) -> Page[IncidentSummary]:
    rows = await repository.page(session, query, _after(query))
    items = [present.summary(row) for row in rows[: query.limit]]
    return Page(items=items, next_cursor=_cursor(query, rows[query.limit - 1]) if len(rows) > query.limit else None)


async def counts(session: ReadSession, chosen: IncidentFilter) -> IncidentCounts:
    by = {facet: await repository.count_by(session, chosen, facet) for facet in Facets.model_fields}
    return IncidentCounts(total=await repository.count(session, chosen), by=Facets(**by))


async def changes_since(session: ReadSession, since: int, limit: int) -> IncidentChanges:
    rows = await repository.after_seq(session, since, limit)
    return IncidentChanges(items=[present.summary(row) for row in rows], next_since=rows[-1].seq if rows else since)


def found(row: IncidentRow | None, incident_id: UUID) -> IncidentRow:
    if row is None:
        raise NotFound(f"There is no incident {incident_id}.")
    return row


async def to_change(session: WriteSession, incident_id: UUID, if_match: str | None) -> IncidentRow:
    """The locked row of an incident that a person changes."""
    row = found(await repository.one_locked(session, incident_id), incident_id)
    if row.merged_into is not None:
        raise MergedAway(f"Its findings are in incident {row.merged_into}; act on that one.")
    etags.check(if_match, row.version)
    return row


def record(session: WriteSession, caller: Caller, action: str, row: IncidentRow, **detail: Any) -> None:
    audit.record(session, caller.actor, f"incident.{action}", row.subject, address=caller.address, incident_id=str(row.id), **detail)


async def get_incident(session: ReadSession, incident_id: UUID) -> Incident:
    return await present.full(session, found(await repository.one(session, incident_id), incident_id))


async def acknowledge(session: WriteSession, caller: Caller, incident_id: UUID, if_match: str | None) -> Incident:
    row = await to_change(session, incident_id, if_match)
    if row.state == "resolved":
        raise AlreadyResolved("A resolved incident cannot be acknowledged.")
    if row.acknowledged_by is not None:
        return await present.full(session, row)
    at = clock.now()
    row.acknowledged_at, row.acknowledged_by = at, caller.actor
    row.state = "suppressed" if row.state == "suppressed" else "acknowledged"  # a silence lasts however many have seen it
    events.note(session, row, at, "acknowledged", "Acknowledged.", caller.actor)
    record(session, caller, "acknowledge", row)
    return await events.publish_shown(session, row, EventType.updated, at)


async def unacknowledge(session: WriteSession, caller: Caller, incident_id: UUID, if_match: str | None) -> Incident:
    row = await to_change(session, incident_id, if_match)
    if row.state == "resolved":
        raise AlreadyResolved("Nobody has to take a resolved incident; reopen it instead.")
    if row.acknowledged_by is None:
        return await present.full(session, row)
    at = clock.now()
    row.acknowledged_at = row.acknowledged_by = None
    row.state = "suppressed" if row.state == "suppressed" else "reopened" if row.reopened else "open"
    events.note(session, row, at, "unacknowledged", "Acknowledgement taken back.", caller.actor)
    record(session, caller, "unacknowledge", row)
    return await events.publish_shown(session, row, EventType.updated, at)


async def resolve(session: WriteSession, caller: Caller, incident_id: UUID, if_match: str | None) -> Incident:
    row = await to_change(session, incident_id, if_match)
    if row.state == "resolved":
        return await present.full(session, row)
    at = clock.now()
    row.state, row.resolved_at, row.resolved_by = "resolved", at, caller.actor
    row.suppressed_by = row.suppressed_at = None
    still = " The symptom was still present." if row.active else ""
    events.note(session, row, at, "resolved", f"Resolved by hand.{still}", caller.actor)
    record(session, caller, "resolve", row, active=row.active)
    return await events.publish_shown(session, row, EventType.resolved, at)


async def reopen(session: WriteSession, caller: Caller, incident_id: UUID, if_match: str | None) -> Incident:
    await repository.lock_grouping(session)  # findings of a remedy's doing may change, which whoever applies messages locks first
    row = await to_change(session, incident_id, if_match)
    if row.state != "resolved":
        return await present.full(session, row)
    at = clock.now()
    row.state, row.reopened = "reopened", row.reopened + 1
    row.resolved_at = row.resolved_by = row.acknowledged_at = row.acknowledged_by = None
    row.over_since = None  # the hold time would close it again at once
    await members.take_in_earnest(session, [row.id])
    events.note(session, row, at, "reopened", "Reopened by hand.", caller.actor)
    record(session, caller, "reopen", row)
    await enforcement.apply_to_one(session, row, at)
    return await events.publish_shown(session, row, EventType.opened, at)


async def comment(session: WriteSession, caller: Caller, incident_id: UUID, text: str, if_match: str | None) -> Incident:
    row = await to_change(session, incident_id, if_match)
    at = clock.now()
    events.note(session, row, at, "comment", text, caller.actor)
    record(session, caller, "comment", row)
    return await events.publish_shown(session, row, None, at)


async def update(session: WriteSession, caller: Caller, incident_id: UUID, change: IncidentChange, if_match: str | None) -> Incident:
    row = await to_change(session, incident_id, if_match)
    at = clock.now()
    changed: dict[str, Any] = {}
    if "assignee" in change.model_fields_set and change.assignee != row.assignee:
        row.assignee = changed["assignee"] = change.assignee
        events.note(session, row, at, "assigned", assigned_text(change.assignee), caller.actor)
    if change.external_refs is not None:
        refs = [ref.model_dump() for ref in change.external_refs]
        if refs != row.external_refs:
            row.external_refs = changed["external_refs"] = refs
            linked = ", ".join(f"{ref['system']} {ref['key']}" for ref in refs)
            events.note(session, row, at, "ticket", f"Tickets: {linked}." if refs else "No ticket any more.", caller.actor, refs=refs)
    if not changed:
        return await present.full(session, row)
    record(session, caller, "update", row, changed=changed)
    return await events.publish_shown(session, row, EventType.updated, at)


def assigned_text(assignee: str | None) -> str:
    return f"Assigned to {assignee}." if assignee is not None else "Assigned to nobody."


async def note_remedy(session: WriteSession, incident_id: UUID | None, actor: str, text: str) -> None:
    """Tell the incident's timeline what a remedy did; nothing to do for a remedy without an incident."""
    row = await repository.one_locked(session, incident_id) if incident_id is not None else None
    if row is not None and row.merged_into is not None:
        row = await repository.one_locked(session, row.merged_into)
    if row is not None:
        at = clock.now()
        events.note(session, row, at, "remedy", text, actor)
        await events.publish(session, row, None, at)
