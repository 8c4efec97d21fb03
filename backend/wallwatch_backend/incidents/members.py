"""The findings of incidents: queries, and what an incident is according to them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, bindparam, exists, func, select, update
from sqlalchemy.orm import aliased

from wallwatch.domain.catalogue.grouping import grouping
from wallwatch_backend.incidents.grouping import scope_of
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import UUIDS, any_of

F = IncidentFindingRow

MOST_SHOWN = 100
"""Findings that an answer or a webhook's body carries: an incident of a fleet's firmware may have thousands."""

_LIGHT = (
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


def _shown() -> Select[IncidentFindingRow]:
    order = ((F.finding_id == IncidentRow.finding_id).desc(), F.cleared_at.is_(None).desc(), F.started_at, F.finding_id)
    place = func.row_number().over(partition_by=F.incident_id, order_by=order).label("place")
    of_these = F.incident_id == func.any(bindparam("incident_ids", type_=UUIDS))
    ranked = select(F, place).join(IncidentRow, IncidentRow.id == F.incident_id).where(of_these).subquery()
    row = aliased(F, ranked)
    return select(row).where(ranked.c.place <= MOST_SHOWN).order_by(row.incident_id, ranked.c.place)


_SHOWN = _shown()
"""Made once: every change of an incident asks it, and to make it takes longer than to answer it."""


async def one(session: ReadSession, finding_id: UUID) -> IncidentFindingRow | None:
    return await session.get(IncidentFindingRow, finding_id)


async def add(session: WriteSession, row: IncidentFindingRow) -> None:
    session.add(row)
    await session.flush()


async def light(session: ReadSession, incident_id: UUID) -> Sequence[Any]:
    """Findings of an incident without their evidence."""
    return (await session.execute(select(*_LIGHT).where(F.incident_id == incident_id).order_by(F.started_at, F.finding_id))).all()


async def shown(session: ReadSession, incident_ids: Sequence[UUID]) -> dict[UUID, list[IncidentFindingRow]]:
    """Findings of incidents with their evidence: the leading one, then active ones, then by their beginning."""
    found: dict[UUID, list[IncidentFindingRow]] = {}
    for one in await session.scalars(_SHOWN, {"incident_ids": list(incident_ids)}):
        found.setdefault(one.incident_id, []).append(one)
    return found


async def some(session: ReadSession, finding_ids: Sequence[UUID]) -> dict[UUID, IncidentFindingRow]:
    return {row.finding_id: row for row in await session.scalars(select(F).where(F.finding_id == any_of(finding_ids)))}


async def of_incident(session: ReadSession, incident_id: UUID, finding_ids: Sequence[UUID]) -> Sequence[Any]:
    """Those of the findings that belong to the incident, without their evidence."""
    query = select(*_LIGHT).where(F.incident_id == incident_id, F.finding_id == any_of(finding_ids))
    return (await session.execute(query.order_by(F.started_at, F.finding_id))).all()


async def count(session: ReadSession, incident_id: UUID) -> int:
    return (await session.execute(select(func.count()).where(F.incident_id == incident_id))).scalar_one()


async def ids_from(session: ReadSession, incident_id: UUID, origin_id: UUID) -> set[UUID]:
    """Findings of an incident that came to it with another one."""
    query = select(F.finding_id).where(F.incident_id == incident_id, F.origin_id == origin_id)
    return set((await session.scalars(query)).all())


async def move(session: WriteSession, finding_ids: Sequence[UUID], incident_id: UUID, *, origin_id: UUID | None = None) -> None:
    values: dict[str, Any] = {"incident_id": incident_id} | ({"origin_id": origin_id} if origin_id is not None else {})
    await session.execute(update(F).where(F.finding_id.in_(finding_ids)).values(**values).execution_options(synchronize_session="fetch"))


async def move_all(session: WriteSession, sources: Sequence[UUID], incident_id: UUID) -> None:
    query = update(F).where(F.incident_id.in_(sources)).values(incident_id=incident_id)
    await session.execute(query.execution_options(synchronize_session="fetch"))


async def end_older(session: WriteSession, finding: IncidentFindingRow) -> None:
    """End earlier findings of the same symptom of the same RNIC whose end never came: whoever sent them has begun anew."""
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


async def settle(session: WriteSession, incident: IncidentRow) -> None:
    """Let the incident say what its findings say: scope, subject, symptoms, severity, whether it is over."""
    say(incident, await light(session, incident.id))


def say(incident: IncidentRow, rows: Sequence[Any]) -> None:
    """Let the incident say what all its findings say, which are given."""
    if not rows:
        return
    active = [row for row in rows if row.cleared_at is None]
    earnest = in_earnest(rows)
    speaking = [row for row in earnest if row.cleared_at is None] or earnest
    lead = _lead(incident.finding_id if active else None, speaking)
    incident.finding_id, incident.host, incident.pci, incident.rack = lead.finding_id, lead.host, lead.pci, lead.rack or None
    incident.symptom, incident.title, incident.summary = lead.symptom, lead.title, lead.summary
    incident.blast_radius, incident.model, incident.fw_ver = lead.blast_radius, lead.model or None, lead.fw_ver or None
    incident.top_cause = lead.cause
    incident.severity = "critical" if any(row.severity == "critical" for row in speaking) else "warning"
    incident.symptoms = sorted({row.symptom for row in rows})
    incident.hosts = sorted({row.host for row in rows})
    incident.rnics = len({(row.host, row.pci) for row in rows if row.pci})
    incident.scope = scope_of((row.host, row.pci, row.rack, row.blast_radius) for row in rows)
    incident.subject = subject_of(incident.scope, rows)
    incident.opened_at = min(row.started_at for row in rows)
    over = incident.active or incident.over_since is not None  # neither: reopened by hand, and over only when a person says so
    incident.active = bool(active)
    if active:
        incident.over_since = None
    elif over:
        incident.over_since = max(row.cleared_at for row in rows)


def in_earnest(rows: Sequence[Any]) -> Sequence[Any]:
    """Findings that speak for an incident: those that a remedy of one's own has brought about do only where there are no others."""
    return [row for row in rows if not (row.inhibited and row.inhibited_by)] or rows


def inhibitor_of(rows: Sequence[Any]) -> UUID | None:
    """The remedy that has brought about all of these findings (of several remedies, the last finding's); None where one is in earnest."""
    return rows[-1].inhibited_by if rows and all(row.inhibited and row.inhibited_by for row in rows) else None


def _lead(present: UUID | None, speaking: Sequence[Any]) -> Any:
    """What explains most about its host leads, and of two related symptoms of an RNIC the one that brings the other about; else whatever
    led before, while it is active; else what began first."""
    there = {(row.host, row.pci, row.symptom) for row in speaking}

    def weight(row: Any) -> tuple[int, bool, bool, datetime, str]:
        led = any((row.host, row.pci, other) in there for other in grouping().leaders(row.symptom))
        return (-grouping().rank(row.symptom), led, row.finding_id != present, row.started_at, str(row.finding_id))

    return min(speaking, key=weight)


def subject_of(scope: str, rows: Sequence[Any]) -> str:
    """What the incident is about, in words."""
    first = rows[0]
    if scope == "rnic":
        return f"{first.host} {first.pci}".strip()
    if scope == "host":
        return str(first.host)
    hosts = {row.host for row in rows}
    if scope == "rack":
        return f"rack {first.rack} ({len(hosts)} hosts)"
    firmware = {row.fw_ver for row in rows if row.fw_ver}
    if len(firmware) == 1:
        models = sorted({row.model for row in rows if row.model})
        return f"firmware {firmware.pop()}{f' of {models[0]}' if len(models) == 1 else ''} ({len(hosts)} hosts)"
    racks = sorted({row.rack for row in rows if row.rack})
    where = f" in racks {', '.join(racks[:5])}{', ...' if len(racks) > 5 else ''}" if racks else ""
    return f"{len(hosts)} hosts{where}"


async def unresolved_labels(session: ReadSession) -> Sequence[Any]:
    """What silences match: the findings of unresolved incidents, each with its incident's id, state and scope."""
    i = IncidentRow
    query = (
        select(
            i.id,
            i.state,
            i.suppressed_by,
            i.scope,
            i.active,
            F.host,
            F.rack,
            F.pci,
            F.model,
            F.fw_ver,
            F.symptom,
            F.cause,
            F.severity,
            F.cleared_at,
            F.inhibited,
            F.inhibited_by,
        )
        .join(F, F.incident_id == i.id)
        .where(i.state != "resolved")
    )
    return (await session.execute(query)).all()


async def labels_of(session: ReadSession, incident_id: UUID) -> Sequence[Any]:
    columns = (F.host, F.rack, F.pci, F.model, F.fw_ver, F.symptom, F.cause, F.severity, F.cleared_at, F.inhibited, F.inhibited_by)
    return (await session.execute(select(*columns).where(F.incident_id == incident_id))).all()


async def any_inhibited_by_remedies(session: ReadSession, incident_id: UUID) -> bool:
    query = select(exists().where(F.incident_id == incident_id, F.inhibited_by.is_not(None), F.inhibited))
    return bool((await session.execute(query)).scalar_one())


async def take_in_earnest(session: WriteSession, incident_ids: Sequence[UUID]) -> None:
    """What remedies have brought about counts from now on: somebody has reopened the incident."""
    query = update(F).where(F.incident_id == any_of(incident_ids), F.inhibited_by.is_not(None), F.inhibited).values(inhibited=False)
    await session.execute(query.execution_options(synchronize_session="fetch"))
