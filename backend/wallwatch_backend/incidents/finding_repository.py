"""Queries of the findings that belong to incidents."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select, bindparam, exists, func, select, update
from sqlalchemy.orm import aliased

from wallwatch_backend.incidents import recommended
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.incidents.rules import refresh_from_findings
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import UUIDS, any_of

F = IncidentFindingRow

MAX_FINDINGS = 100
"""Findings that an answer or a webhook's body carries: an incident of a fleet's firmware may have thousands."""

_WITHOUT_EVIDENCE = (
    F.finding_id,
    F.incident_id,
    F.origin_id,
    F.host,
    F.pci,
    F.rack,
    F.model,
    F.fw_ver,
    F.symptom,
    F.cause,
    F.posterior,
    F.severity,
    F.blast_radius,
    F.title,
    F.summary,
    F.started_at,
    F.last_at,
    F.cleared_at,
    F.inhibited,
    F.inhibited_by,
)
_LABELS = (F.host, F.rack, F.pci, F.model, F.fw_ver, F.symptom, F.cause, F.severity, F.cleared_at, F.inhibited, F.inhibited_by)


def _first_of_incidents() -> Select[IncidentFindingRow]:
    order = ((F.finding_id == IncidentRow.finding_id).desc(), F.cleared_at.is_(None).desc(), F.started_at, F.finding_id)
    place = func.row_number().over(partition_by=F.incident_id, order_by=order).label("place")
    of_these = F.incident_id == func.any(bindparam("incident_ids", type_=UUIDS))
    ranked = select(F, place).join(IncidentRow, IncidentRow.id == F.incident_id).where(of_these).subquery()
    row = aliased(F, ranked)
    return select(row).where(ranked.c.place <= MAX_FINDINGS).order_by(row.incident_id, ranked.c.place)


_FIRST_OF_INCIDENTS = _first_of_incidents()
"""Built once: every change of an incident runs it, and building it takes longer than answering it."""


async def get(session: ReadSession, finding_id: UUID) -> IncidentFindingRow | None:
    return await session.get(IncidentFindingRow, finding_id)


async def get_many(session: ReadSession, finding_ids: Sequence[UUID]) -> dict[UUID, IncidentFindingRow]:
    return {row.finding_id: row for row in await session.scalars(select(F).where(F.finding_id == any_of(finding_ids)))}


async def add(session: WriteSession, row: IncidentFindingRow) -> None:
    session.add(row)
    await session.flush()


async def first_of_incidents(session: ReadSession, incident_ids: Sequence[UUID]) -> dict[UUID, list[IncidentFindingRow]]:
    """At most `MAX_FINDINGS` findings per incident, with evidence: the leading one, then active ones, then by start time."""
    by_incident: dict[UUID, list[IncidentFindingRow]] = {}
    for row in await session.scalars(_FIRST_OF_INCIDENTS, {"incident_ids": list(incident_ids)}):
        by_incident.setdefault(row.incident_id, []).append(row)
    return by_incident


async def without_evidence(session: ReadSession, incident_id: UUID, finding_ids: Sequence[UUID] | None = None) -> Sequence[Any]:
    """Findings of an incident (with `finding_ids`: those of them that belong to it) without their evidence."""
    query = select(*_WITHOUT_EVIDENCE).where(F.incident_id == incident_id).order_by(F.started_at, F.finding_id)
    if finding_ids is not None:
        query = query.where(F.finding_id == any_of(finding_ids))
    return (await session.execute(query)).all()


async def refresh_incident(session: WriteSession, incident: IncidentRow) -> None:
    """Read the incident's findings and set from them what they decide: scope, subject, symptoms, severity, activity."""
    refresh_from_findings(incident, await without_evidence(session, incident.id))
    incident.recommended = recommended.with_new(incident.recommended or {}, await suggestions(session, incident), clock.now())


async def suggestions(session: ReadSession, incident: IncidentRow) -> list[recommended.Suggestions]:
    """Remedies that the findings on the RNIC of the leading one suggest, its own first, then those of active ones."""
    query = (
        select(F.remedies)
        .where(F.incident_id == incident.id, F.host == incident.host, F.pci == incident.pci)
        .where((F.finding_id == incident.finding_id) | (F.cleared_at.is_(None) & F.inhibited.is_(False)))
        .order_by((F.finding_id == incident.finding_id).desc(), F.started_at, F.finding_id)
    )
    return list((await session.scalars(query)).all())


async def count(session: ReadSession, incident_id: UUID) -> int:
    return (await session.execute(select(func.count()).where(F.incident_id == incident_id))).scalar_one()


async def ids_by_origin(session: ReadSession, incident_id: UUID, origin_id: UUID) -> set[UUID]:
    """Findings of an incident that came to it with another one."""
    query = select(F.finding_id).where(F.incident_id == incident_id, F.origin_id == origin_id)
    return set((await session.scalars(query)).all())


async def move(session: WriteSession, finding_ids: Sequence[UUID], incident_id: UUID, *, origin_id: UUID | None = None) -> None:
    values: dict[str, Any] = {"incident_id": incident_id} | ({"origin_id": origin_id} if origin_id is not None else {})
    await session.execute(update(F).where(F.finding_id.in_(finding_ids)).values(**values).execution_options(synchronize_session="fetch"))


async def move_all(session: WriteSession, sources: Sequence[UUID], incident_id: UUID) -> None:
    query = update(F).where(F.incident_id.in_(sources)).values(incident_id=incident_id)
    await session.execute(query.execution_options(synchronize_session="fetch"))


async def clear_superseded(session: WriteSession, finding: IncidentFindingRow) -> None:
    """Clear earlier findings of the same symptom of the same RNIC whose end never came: their sender restarted without it."""
    query = (
        update(F)
        .where(
            F.host == finding.host,
            F.pci == finding.pci,
            F.symptom == finding.symptom,
            F.finding_id != finding.finding_id,
            F.cleared_at.is_(None),
            F.started_at <= finding.started_at,
        )
        .values(cleared_at=finding.started_at)
    )
    await session.execute(query.execution_options(synchronize_session="fetch"))


async def labels_of_unresolved(session: ReadSession) -> Sequence[Any]:
    """What silences match: the findings of unresolved incidents, each with its incident's id, state and scope."""
    i = IncidentRow
    columns = (i.id, i.state, i.suppressed_by, i.scope, i.active, *_LABELS)
    query = select(*columns).join(F, F.incident_id == i.id).where(i.state != IncidentState.resolved)
    return (await session.execute(query)).all()


async def labels_of_incident(session: ReadSession, incident_id: UUID) -> Sequence[Any]:
    return (await session.execute(select(*_LABELS).where(F.incident_id == incident_id))).all()


async def any_inhibited_by_remedies(session: ReadSession, incident_id: UUID) -> bool:
    query = select(exists().where(F.incident_id == incident_id, F.inhibited_by.is_not(None), F.inhibited))
    return bool((await session.execute(query)).scalar_one())


async def end_inhibition(session: WriteSession, incident_ids: Sequence[UUID]) -> None:
    """Let side effects of remedies count from now on: a person reopened the incident."""
    query = update(F).where(F.incident_id == any_of(incident_ids), F.inhibited_by.is_not(None), F.inhibited).values(inhibited=False)
    await session.execute(query.execution_options(synchronize_session="fetch"))
