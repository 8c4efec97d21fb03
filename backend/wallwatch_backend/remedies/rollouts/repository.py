"""Queries of rollouts."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Row, exists, select, tuple_

from wallwatch.store.tables import rnic
from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.incidents.models import IncidentFindingRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import any_of
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.rollouts.models import RolloutRow
from wallwatch_backend.remedies.rollouts.states import DRIVEN


async def add(session: WriteSession, row: RolloutRow) -> None:
    session.add(row)
    await session.flush()


async def one(session: ReadSession, rollout_id: UUID) -> RolloutRow | None:
    return await session.get(RolloutRow, rollout_id)


async def one_locked(session: WriteSession, rollout_id: UUID) -> RolloutRow | None:
    query = select(RolloutRow).where(RolloutRow.id == rollout_id).with_for_update().execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


async def under_way(session: ReadSession) -> Sequence[UUID]:
    """Rollouts that the worker takes forward or rolls back, oldest first."""
    query = select(RolloutRow.id).where(RolloutRow.state.in_(DRIVEN)).order_by(RolloutRow.created_at)
    return (await session.scalars(query)).all()


async def page(session: ReadSession, *, before: tuple[datetime, UUID] | None, limit: int) -> Sequence[RolloutRow]:
    query = select(RolloutRow)
    if before is not None:
        query = query.where(tuple_(RolloutRow.created_at, RolloutRow.id) < before)
    return (await session.scalars(query.order_by(RolloutRow.created_at.desc(), RolloutRow.id.desc()).limit(limit))).all()


async def remedies_of(session: ReadSession, rollout_ids: Sequence[UUID]) -> Sequence[RemedyRow]:
    return (
        await session.scalars(select(RemedyRow).where(RemedyRow.rollout_id == any_of(rollout_ids)).order_by(RemedyRow.created_at))
    ).all()


async def undos_of(session: ReadSession, remedy_ids: Sequence[UUID]) -> dict[UUID, CommandRow]:
    """The newest undo command of each remedy that has one."""
    query = select(CommandRow).where(CommandRow.remedy_id == any_of(remedy_ids), CommandRow.operation == "undo")
    return {command.remedy_id: command for command in await session.scalars(query.order_by(CommandRow.issued_at))}


async def hosts_with_agents(session: ReadSession, hosts: Collection[str]) -> set[str]:
    return set((await session.scalars(select(AgentRow.host).where(AgentRow.host.in_(sorted(hosts))))).all())


async def rnics_of(session: ReadSession, hosts: Sequence[str]) -> Sequence[Row[str, str | None, str | None]]:
    """Rack, model and firmware (`rack`, `model`, `fw_ver`) of what these hosts have, each once."""
    query = select(rnic.c.rack, rnic.c.model, rnic.c.fw_ver).where(rnic.c.host.in_(hosts)).distinct()
    return (await session.execute(query)).all()


async def symptom_since(session: ReadSession, hosts: Sequence[str], since: datetime) -> tuple[str, str] | None:
    """A symptom that began on one of these hosts after a time and lasts: (symptom, host). What is inhibited is none."""
    query = (
        select(IncidentFindingRow.symptom, IncidentFindingRow.host)
        .where(IncidentFindingRow.host.in_(hosts), IncidentFindingRow.started_at > since, IncidentFindingRow.cleared_at.is_(None))
        .where(IncidentFindingRow.inhibited.is_(False))
        .order_by(IncidentFindingRow.started_at)
        .limit(1)
    )
    row = (await session.execute(query)).one_or_none()
    return (row.symptom, row.host) if row is not None else None


async def any_inhibited(session: ReadSession, hosts: Sequence[str], since: datetime) -> bool:
    """Whether a symptom lasts on one of these hosts that began after a time and is inhibited: it may still be raised."""
    f = IncidentFindingRow
    found = exists().where(f.host.in_(hosts), f.started_at > since, f.cleared_at.is_(None), f.inhibited)
    return bool((await session.execute(select(found))).scalar_one())
