"""Lists of incidents, one incident, counts and the change feed."""

from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.incidents import present
from wallwatch_backend.incidents.listing import repository
from wallwatch_backend.incidents.listing.filters import GroupsQuery, IncidentFilter, ListQuery
from wallwatch_backend.incidents.listing.schemas import Facets, IncidentChanges, IncidentCounts, IncidentGroup, IncidentGroups
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.schemas import Incident, IncidentSummary
from wallwatch_backend.incidents.service import require
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.paging import BadCursor, Page, decode_cursor, encode_cursor


def _after(query: ListQuery) -> tuple[Any, ...] | None:
    """The sort key in the cursor; a cursor of another sorting is rejected."""
    if query.cursor is None:
        return None
    kinds = (str, int, datetime, str) if query.sort == "severity" else (str, datetime, str)
    sort, *key = decode_cursor(query.cursor, *kinds)
    if sort != f"{query.sort} {query.order}":
        raise BadCursor("This cursor belongs to another sorting; start at the first page.")
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


async def counts(session: ReadSession, filters: IncidentFilter) -> IncidentCounts:
    total, by = await repository.counts(session, filters)
    return IncidentCounts(total=total, by=Facets(**by))


async def in_groups(session: ReadSession, query: GroupsQuery) -> IncidentGroups:
    rows = await repository.in_groups(session, query)
    items = [
        IncidentGroup(value=value, incidents=incidents, critical=critical, newest=newest)
        for value, incidents, critical, newest in rows[: query.limit]
    ]
    return IncidentGroups(items=items, more=len(rows) > query.limit)


async def changes_since(session: ReadSession, since: int, limit: int) -> IncidentChanges:
    rows = await repository.after_seq(session, since, limit)
    return IncidentChanges(items=[present.summary(row) for row in rows], next_since=rows[-1].seq if rows else since)


async def get_incident(session: ReadSession, incident_id: UUID) -> Incident:
    return await present.full(session, await require(session, incident_id))
