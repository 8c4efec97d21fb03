"""Queries of lists: filters as SQL conditions, pages, counts, the change feed."""

from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, CompoundSelect, Select, Text, case, cast, exists, func, literal, null, or_, select, tuple_, union_all

from wallwatch_backend.accounts.users.models import UserRow
from wallwatch_backend.incidents.listing import groups
from wallwatch_backend.incidents.listing.filters import GroupsQuery, IncidentFilter, ListQuery
from wallwatch_backend.incidents.models import IncidentFindingRow as F
from wallwatch_backend.incidents.models import IncidentRow as I
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import ReadSession

_SEVERITY_RANK = case((I.severity == "critical", 1), else_=0)

_SORT_COLUMNS = {"opened_at": I.opened_at, "updated_at": I.updated_at}

Condition = ColumnElement[bool]

_OF_INCIDENT = {"cause": I.top_cause, "severity": I.severity, "scope": I.scope, "assignee": I.assignee, "active": I.active}
_OF_FINDINGS = {"host": F.host, "pci": F.pci, "rack": F.rack, "model": F.model, "fw_ver": F.fw_ver, "inhibited_by": F.inhibited_by}

_UNASSIGNED = ~exists().where(UserRow.username == I.assignee, UserRow.disabled.is_(False))


def conditions(filters: IncidentFilter, without: str | None = None) -> Sequence[Condition]:
    """SQL conditions for the filters that are set, except the one called `without`."""
    given: dict[str, Any] = {name: value for name, value in filters if value is not None and name != without}
    holds: list[Condition] = [I.merged_into.is_(None)]
    if given.get("state"):
        holds.append(I.state.in_([str(state) for state in given["state"]]))
    if given.get("symptom"):
        holds.append(I.symptoms.overlap(given["symptom"]))
    holds += [column == given[name] for name, column in _OF_INCIDENT.items() if name in given]
    # One finding must match them all: not the host of one and the PCI address of another.
    of_finding = [column == given[name] for name, column in _OF_FINDINGS.items() if name in given]
    if of_finding:
        holds.append(I.id.in_(select(F.incident_id).where(*of_finding)))
    if "suppressed_by" in given:
        holds.append((I.suppressed_by == given["suppressed_by"]) & (I.state == IncidentState.suppressed))
    ticket = {part: given[name] for name, part in (("ticket", "key"), ("ticket_system", "system")) if name in given}
    if ticket:
        holds.append(I.external_refs.contains([ticket]))
    if "unassigned" in given:
        holds.append(_UNASSIGNED if given["unassigned"] else ~_UNASSIGNED)
    if "q" in given:
        holds.append(_contains(given["q"]))
    if "opened_after" in given:
        holds.append(I.opened_at >= given["opened_after"])
    if "opened_before" in given:
        holds.append(I.opened_at < given["opened_before"])
    if "group_by" in given and "group" in given:
        holds.append(groups.column(given["group_by"]) == given["group"])
    return holds


def _contains(text: str) -> Condition:
    texts = (I.title, I.summary, I.subject, func.array_to_string(I.hosts, " "), I.pci, cast(I.external_refs, Text), I.assignee)
    return or_(*(column.icontains(text, autoescape=True) for column in texts))


async def page(session: ReadSession, query: ListQuery, after: tuple[Any, ...] | None) -> Sequence[I]:
    """One row more than the limit, sorted; `after` is the sort key of the last row of the previous page."""
    key: list[Any] = [_SEVERITY_RANK, I.opened_at] if query.sort == "severity" else [_SORT_COLUMNS[query.sort]]
    key.append(I.id)
    statement = select(I).where(*conditions(query))
    if after is not None:
        statement = statement.where(tuple_(*key) < after if query.order == "desc" else tuple_(*key) > after)
    ordered = [column.desc() if query.order == "desc" else column.asc() for column in key]
    return (await session.scalars(statement.order_by(*ordered).limit(query.limit + 1))).all()


async def ids(session: ReadSession, filters: IncidentFilter, limit: int) -> Sequence[UUID]:
    return (await session.scalars(select(I.id).where(*conditions(filters)).order_by(I.id).limit(limit))).all()


async def count(session: ReadSession, filters: IncidentFilter) -> int:
    return (await session.execute(select(func.count()).select_from(I).where(*conditions(filters)))).scalar_one()


_FACETS: dict[str, Any] = {
    "state": I.state,
    "severity": I.severity,
    "cause": I.top_cause,
    "scope": I.scope,
    "symptom": func.unnest(I.symptoms),
}


def _counting(filters: IncidentFilter) -> CompoundSelect[*tuple[Any, ...]]:
    total: Select[*tuple[Any, ...]] = select(literal("total"), null(), func.count()).select_from(I).where(*conditions(filters))
    parts = [total]
    for facet, column in _FACETS.items():
        filtered = select(cast(column, Text).label("value")).where(*conditions(filters, without=facet)).subquery()
        value = filtered.c.value
        parts.append(select(literal(facet), value, func.count()).where(value.is_not(None)).group_by(value))
    return union_all(*parts)


_COUNTING_ALL = _counting(IncidentFilter())  # each page asks it: put together once


async def counts(session: ReadSession, filters: IncidentFilter) -> tuple[int, dict[str, dict[str, int]]]:
    """Number of incidents that pass, and for each facet how many have which value, all other filters applied: in one statement."""
    found: dict[str, dict[str, int]] = {facet: {} for facet in _FACETS}
    total = 0
    for facet, value, count in await session.execute(_counting(filters) if filters.model_fields_set else _COUNTING_ALL):
        if facet == "total":
            total = count
        else:
            found[facet][value] = count
    return total, found


async def in_groups(session: ReadSession, query: GroupsQuery) -> Sequence[Any]:
    """One row more than the limit; see `groups.counted`."""
    return (await session.execute(groups.counted(query.by, conditions(query), query.limit + 1))).all()


async def after_seq(session: ReadSession, since: int, limit: int) -> Sequence[I]:
    return (await session.scalars(select(I).where(I.seq > since).order_by(I.seq).limit(limit))).all()


async def in_blocks(session: ReadSession, filters: IncidentFilter) -> AsyncIterator[Sequence[I]]:
    """All incidents that pass the filters, newest first, in blocks of 500."""
    query = select(I).where(*conditions(filters)).order_by(I.opened_at.desc(), I.id.desc())
    await session.one_transaction()
    result = await session.stream_scalars(query.execution_options(yield_per=500))
    async for rows in result.partitions():
        yield rows
