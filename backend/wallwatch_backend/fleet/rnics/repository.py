"""Queries of RNICs: identity, state, masks, findings."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, func, or_, select, tuple_

from wallwatch.store.tables import finding, mask_sample, rnic, rnic_state
from wallwatch.store.tables import host as host_table
from wallwatch_backend.fleet.rnics.models import CordonRow
from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import ReadSession


async def page(
    session: ReadSession,
    *,
    host: str | None,
    rack: str | None,
    model: str | None,
    symptom: str | None,
    after: tuple[str, str] | None,
    limit: int,
) -> Sequence[Row[Any]]:
    """Rows of `rnic_state` with `cordoned`."""
    s = rnic_state.c
    cordon = and_(CordonRow.host == s.host, CordonRow.pci == s.pci)
    query = select(rnic_state, func.coalesce(CordonRow.cordoned, False).label("cordoned"))
    query = query.select_from(rnic_state.outerjoin(CordonRow, cordon)).order_by(s.host, s.pci).limit(limit)
    for column, wanted in ((s.host, host), (s.rack, rack), (s.model, model)):
        if wanted is not None:
            query = query.where(column == wanted)
    if symptom is not None:
        query = query.where(func.jsonb_exists(s.symptoms, symptom), s.symptoms[(symptom, "until")].astext.is_(None))
    if after is not None:
        query = query.where(tuple_(s.host, s.pci) > after)
    return (await session.execute(query)).all()


async def identity(session: ReadSession, host: str, pci: str) -> Row[Any] | None:
    return (await session.execute(select(rnic).where(rnic.c.host == host, rnic.c.pci == pci))).one_or_none()


async def state(session: ReadSession, host: str, pci: str) -> Row[Any] | None:
    return (await session.execute(select(rnic_state).where(rnic_state.c.host == host, rnic_state.c.pci == pci))).one_or_none()


async def agent_of(session: ReadSession, host: str) -> AgentRow | None:
    return (await session.scalars(select(AgentRow).where(AgentRow.host == host))).one_or_none()


async def open_incidents(session: ReadSession, host: str, pci: str) -> dict[str, Any]:
    """Symptom → id of the incident that is not resolved; a finding of the host concerns all its RNICs."""
    f = IncidentFindingRow
    query = (
        select(f.symptom, IncidentRow.id)
        .join(IncidentRow, IncidentRow.id == f.incident_id)
        .where(f.host == host, or_(f.pci == pci, f.pci == "", f.blast_radius == "host"), IncidentRow.state != IncidentState.resolved)
        .order_by(f.started_at)
    )
    return {row[0]: row[1] for row in await session.execute(query)}


async def newest_masks(session: ReadSession, rnic_id: int, since: datetime) -> Sequence[Row[Any]]:
    """The masks of each direction in its newest sample since a time.

    A direction that no longer has masks has no newer rows, so age matters. Masks of the last hour are never packed.
    """
    m = mask_sample.c
    newest = (
        select(m.direction, func.max(m.time).label("time")).where(m.rnic_id == rnic_id, m.time >= since).group_by(m.direction).subquery()
    )
    query = (
        select(mask_sample)
        .join(newest, (m.direction == newest.c.direction) & (m.time == newest.c.time))
        .where(m.rnic_id == rnic_id, m.time >= since)
        .order_by(m.direction, m.position)
    )
    return (await session.execute(query)).all()


async def findings(session: ReadSession, identity: Row[Any], since: datetime, until: datetime) -> Sequence[Row[Any]]:
    """Findings of an RNIC or of its whole host whose interval touches [since, until), with the incident that each belongs to."""
    f = finding.c
    host_id = select(host_table.c.host_id).where(host_table.c.host == identity.host).scalar_subquery()
    concerns = or_(f.rnic_id == identity.rnic_id, (f.host_id == host_id) & or_(f.rnic_id.is_(None), f.blast_radius == "host"))
    cleared = func.max(f.time).filter(f.state == "cleared")
    query = (
        select(
            f.finding_id,
            f.symptom,
            func.min(f.started_at).label("started_at"),
            cleared.label("cleared_at"),
            func.max(f.time).label("last_at"),
            func.array_agg(f.severity).label("severities"),
            IncidentFindingRow.incident_id,
        )
        .outerjoin(IncidentFindingRow, IncidentFindingRow.finding_id == f.finding_id)
        .where(concerns, f.started_at < until)
        .group_by(f.finding_id, f.symptom, IncidentFindingRow.incident_id)
        .having(func.coalesce(cleared, func.max(f.time)) >= since)
        .order_by(func.min(f.started_at))
        .limit(1000)
    )
    return (await session.execute(query)).all()
