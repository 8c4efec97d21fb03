"""Queries of automation rules and runs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, literal, null, select, tuple_
from sqlalchemy.exc import IntegrityError

from wallwatch.store.tables import rnic, rnic_forecast
from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.incidents.states import UNTAKEN
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import any_of
from wallwatch_backend.remedies.automation.models import RuleRow, RunRow

_F = IncidentFindingRow


async def add(session: WriteSession, row: RuleRow | RunRow) -> bool:
    """Write a new row; False when it already exists."""
    try:
        async with session.begin_nested():
            session.add(row)
    except IntegrityError:
        return False
    return True


async def rules(session: ReadSession, *, enabled: bool = False) -> Sequence[RuleRow]:
    query = select(RuleRow).order_by(RuleRow.name)
    return (await session.scalars(query.where(RuleRow.enabled) if enabled else query)).all()


async def rule(session: ReadSession, rule_id: UUID) -> RuleRow | None:
    return await session.get(RuleRow, rule_id)


async def rule_kept(session: WriteSession, run_id: UUID) -> RuleRow | None:
    """The rule of a run; it cannot be deleted before the transaction ends. Locked before the run, as a deletion does."""
    query = select(RuleRow).join(RunRow, RunRow.rule_id == RuleRow.id).where(RunRow.id == run_id)
    kept = query.with_for_update(of=RuleRow, read=True, key_share=True).execution_options(populate_existing=True)
    return (await session.scalars(kept)).one_or_none()


async def rule_locked(session: WriteSession, rule_id: UUID) -> RuleRow | None:
    query = select(RuleRow).where(RuleRow.id == rule_id).with_for_update().execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


async def named(session: ReadSession, name: str) -> RuleRow | None:
    return (await session.scalars(select(RuleRow).where(RuleRow.name == name))).one_or_none()


async def open_counts(session: ReadSession, rule_ids: Sequence[UUID]) -> dict[UUID, int]:
    query = select(RunRow.rule_id, func.count()).where(RunRow.rule_id == any_of(rule_ids), RunRow.ended_at.is_(None))
    return {row[0]: row[1] for row in await session.execute(query.group_by(RunRow.rule_id))}


async def active_findings(session: ReadSession) -> Sequence[Any]:
    """Active findings of incidents that nobody has acknowledged, oldest first, with the scope of the incident."""
    query = (
        select(
            *(_F.finding_id, _F.incident_id, _F.host, _F.pci, _F.rack, _F.model, _F.fw_ver, _F.symptom, _F.cause, _F.severity),
            IncidentRow.scope,
        )
        .join(IncidentRow, IncidentRow.id == _F.incident_id)
        .where(_F.cleared_at.is_(None), _F.inhibited.is_(False), IncidentRow.state.in_(UNTAKEN))
        .order_by(_F.started_at, _F.finding_id)
    )
    return (await session.execute(query)).all()


FRESH = timedelta(minutes=5)
"""There is a new forecast every minute; an older one is stale."""


async def declining(session: ReadSession, at: datetime) -> Sequence[Any]:
    """RNICs with a predicted decline whose host has a connected agent, the earliest decline first, as places without a finding."""
    nothing = [literal("").label(name) for name in ("symptom", "severity", "scope")]
    query = (
        select(
            *(null().label(name) for name in ("finding_id", "incident_id", "cause")),
            *(rnic.c.host, rnic.c.pci, rnic.c.rack, func.coalesce(rnic.c.model, "").label("model")),
            func.coalesce(rnic.c.fw_ver, "").label("fw_ver"),
            *nothing,
        )
        .join(rnic_forecast, rnic_forecast.c.rnic_id == rnic.c.rnic_id)
        .join(AgentRow, AgentRow.host == rnic.c.host)
        .where(rnic_forecast.c.decline_since.is_not(None), rnic_forecast.c.made_at > at - FRESH, AgentRow.connection_id.is_not(None))
        .order_by(rnic_forecast.c.decline_in_s.asc().nulls_last(), rnic_forecast.c.decline_since, rnic.c.host, rnic.c.pci)
    )
    return (await session.execute(query)).all()


async def still_declining(session: ReadSession, host: str, pci: str, at: datetime) -> bool:
    """Whether the newest forecast still has the decline."""
    query = (
        select(rnic.c.rnic_id)
        .join(rnic_forecast, rnic_forecast.c.rnic_id == rnic.c.rnic_id)
        .where(rnic.c.host == host, rnic.c.pci == pci)
        .where(rnic_forecast.c.decline_since.is_not(None), rnic_forecast.c.made_at > at - FRESH)
    )
    return (await session.execute(query)).one_or_none() is not None


async def still_wanted(session: ReadSession, finding_id: UUID) -> bool:
    """Whether a finding is still active and nobody has acknowledged its incident."""
    query = (
        select(_F.finding_id)
        .join(IncidentRow, IncidentRow.id == _F.incident_id)
        .where(_F.finding_id == finding_id, _F.cleared_at.is_(None), IncidentRow.state.in_(UNTAKEN))
    )
    return (await session.execute(query)).one_or_none() is not None


async def places_since(session: ReadSession, rule_id: UUID, since: datetime) -> set[tuple[str, str]]:
    """Places (host, pci) at which a rule acts, or began to act after a time."""
    query = select(RunRow.host, RunRow.pci).where(RunRow.rule_id == rule_id, (RunRow.created_at > since) | RunRow.ended_at.is_(None))
    return {(row.host, row.pci) for row in await session.execute(query)}


async def open_runs(session: ReadSession) -> Sequence[UUID]:
    return (await session.scalars(select(RunRow.id).where(RunRow.ended_at.is_(None)).order_by(RunRow.created_at, RunRow.id))).all()


async def run_locked(session: WriteSession, run_id: UUID) -> RunRow | None:
    query = select(RunRow).where(RunRow.id == run_id, RunRow.ended_at.is_(None)).with_for_update()
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def page(session: ReadSession, rule_id: UUID, before: tuple[datetime, UUID] | None, limit: int) -> Sequence[RunRow]:
    query = select(RunRow).where(RunRow.rule_id == rule_id)
    if before is not None:
        query = query.where(tuple_(RunRow.created_at, RunRow.id) < before)
    return (await session.scalars(query.order_by(RunRow.created_at.desc(), RunRow.id.desc()).limit(limit))).all()
