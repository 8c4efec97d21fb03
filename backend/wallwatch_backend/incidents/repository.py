"""Queries of incidents."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, text, tuple_

from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow, TimelineRow
from wallwatch_backend.kit.database import ReadSession, WriteSession


async def page(
    session: ReadSession,
    *,
    states: Sequence[str] | None,
    host: str | None,
    pci: str | None,
    symptom: str | None,
    severity: str | None,
    before: tuple[datetime, UUID] | None,
    limit: int,
) -> Sequence[IncidentRow]:
    query = select(IncidentRow)
    if states:
        query = query.where(IncidentRow.state.in_(states))
    columns = (IncidentRow.host, IncidentRow.pci, IncidentRow.symptom, IncidentRow.severity)
    for column, wanted in zip(columns, (host, pci, symptom, severity), strict=True):
        if wanted is not None:
            query = query.where(column == wanted)
    if before is not None:
        query = query.where(tuple_(IncidentRow.opened_at, IncidentRow.id) < before)
    return (await session.scalars(query.order_by(IncidentRow.opened_at.desc(), IncidentRow.id.desc()).limit(limit))).all()


async def one(session: ReadSession, incident_id: UUID) -> IncidentRow | None:
    return await session.get(IncidentRow, incident_id)


async def one_locked(session: WriteSession, incident_id: UUID) -> IncidentRow | None:
    query = select(IncidentRow).where(IncidentRow.id == incident_id).with_for_update().execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


async def timeline(session: ReadSession, incident_id: UUID) -> Sequence[TimelineRow]:
    query = select(TimelineRow).where(TimelineRow.incident_id == incident_id).order_by(TimelineRow.id)
    return (await session.scalars(query)).all()


async def lock_subject(session: WriteSession, host: str, pci: str, symptom: str) -> None:
    """Let one transaction at a time decide about this RNIC's symptom, also where there is no row yet to lock."""
    key = f"{host}|{pci}|{symptom}"
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 7241002))"), {"key": key})


async def finding(session: WriteSession, finding_id: UUID) -> IncidentFindingRow | None:
    return await session.get(IncidentFindingRow, finding_id)


async def unresolved(session: WriteSession, host: str, pci: str, symptom: str) -> IncidentRow | None:
    query = select(IncidentRow).where(
        IncidentRow.host == host, IncidentRow.pci == pci, IncidentRow.symptom == symptom, IncidentRow.state != "resolved"
    )
    return (await session.scalars(query.with_for_update())).one_or_none()


async def newest_resolved_since(session: WriteSession, host: str, pci: str, symptom: str, since: datetime) -> IncidentRow | None:
    """The incident of this symptom that was resolved last, if that was after `since`."""
    query = (
        select(IncidentRow)
        .where(
            IncidentRow.host == host,
            IncidentRow.pci == pci,
            IncidentRow.symptom == symptom,
            IncidentRow.state == "resolved",
            IncidentRow.resolved_at >= since,
        )
        .order_by(IncidentRow.resolved_at.desc())
        .limit(1)
        .with_for_update()
    )
    return (await session.scalars(query)).one_or_none()


async def add(session: WriteSession, row: IncidentRow | IncidentFindingRow) -> None:
    session.add(row)
    await session.flush()


def add_timeline(session: WriteSession, **values: Any) -> None:
    session.add(TimelineRow(**values))


async def count_by_state(session: ReadSession) -> dict[str, int]:
    query = select(IncidentRow.state, func.count()).group_by(IncidentRow.state)
    return {row[0]: row[1] for row in await session.execute(query)}
