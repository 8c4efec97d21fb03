"""Queries of policies, their versions, and what agents run."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from wallwatch_backend.accounts.audit.models import AuditRow
from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.policies.registry.models import PolicyRow, PolicyTablesRow, PolicyVersionRow

P, V, A = PolicyRow, PolicyVersionRow, AgentRow
_HISTORY = 100


async def rows(session: ReadSession) -> Sequence[PolicyRow]:
    return (await session.scalars(select(P).order_by(P.id))).all()


async def one(session: ReadSession, policy_id: str) -> PolicyRow | None:
    return await session.get(P, policy_id)


async def one_locked(session: WriteSession, policy_id: str) -> PolicyRow | None:
    query = select(P).where(P.id == policy_id).with_for_update().execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


async def shown_versions(session: ReadSession) -> dict[str, PolicyVersionRow]:
    """The version of each policy that runs, or else its newest."""
    query = select(V).join(P, P.id == V.policy_id).where(V.number == func.coalesce(P.running, P.newest))
    return {row.policy_id: row for row in await session.scalars(query)}


async def versions(session: ReadSession, policy_id: str) -> Sequence[PolicyVersionRow]:
    return (await session.scalars(select(V).where(V.policy_id == policy_id).order_by(V.number.desc()))).all()


async def version(session: ReadSession, policy_id: str, number: int) -> PolicyVersionRow | None:
    return await session.get(V, (policy_id, number))


async def in_force(session: ReadSession) -> Sequence[Any]:
    """(id, own, version, definition): operators' own that are enabled, and those of the catalogue that are switched off."""
    query = (
        select(P.id, P.own, V.number, V.definition)
        .outerjoin(V, and_(V.policy_id == P.id, V.number == P.running))
        .where(P.own == P.enabled)
        .order_by(P.id)
    )
    return (await session.execute(query)).all()


async def enabled_count(session: ReadSession) -> int:
    return (await session.execute(select(func.count()).select_from(P).where(P.own, P.enabled))).scalar_one()


async def add(session: WriteSession, row: PolicyRow | PolicyVersionRow) -> None:
    session.add(row)
    await session.flush()


async def remove(session: WriteSession, row: PolicyRow | PolicyVersionRow) -> None:
    await session.delete(row)
    await session.flush()


async def remove_versions(session: WriteSession, policy_id: str) -> None:
    await session.execute(delete(V).where(V.policy_id == policy_id))


async def keep_tables(session: WriteSession, hash: str, at: datetime, policies: dict[str, int]) -> None:
    """Store which versions are behind a hash."""
    values = {"hash": hash, "made_at": at, "policies": policies}
    await session.execute(insert(PolicyTablesRow).values(values).on_conflict_do_nothing())


async def agents_by_hash(session: ReadSession) -> Sequence[Any]:
    """(hash, made_at, policies, agents) of the agents that accept policies; made_at and policies are null for tables of another server."""
    t = PolicyTablesRow
    query = (
        select(A.config_hash.label("hash"), t.made_at, t.policies, func.count().label("agents"))
        .outerjoin(t, t.hash == A.config_hash)
        .where(A.accepts_config)
        .group_by(A.config_hash, t.made_at, t.policies)
        .order_by(func.count().desc(), A.config_hash)
    )
    return (await session.execute(query)).all()


async def refusals(session: ReadSession, limit: int) -> Sequence[AgentRow]:
    """Agents that refused the newest policies, newest refusal first."""
    query = select(A).where(A.config_refused_hash.is_not(None)).order_by(A.config_refused_at.desc(), A.host).limit(limit)
    return (await session.scalars(query)).all()


async def agent_counts(session: ReadSession) -> Any:
    """(agents, takes, connected, refused)."""
    query = select(
        func.count().label("agents"),
        func.count().filter(A.accepts_config).label("takes"),
        func.count().filter(A.accepts_config, A.connection_id.is_not(None)).label("connected"),
        func.count().filter(A.config_refused_hash.is_not(None)).label("refused"),
    )
    return (await session.execute(query)).one()


async def history(session: ReadSession, policy_id: str) -> Sequence[AuditRow]:
    query = select(AuditRow).where(AuditRow.action.startswith("policy."), AuditRow.target == policy_id).order_by(AuditRow.id.desc())
    return (await session.scalars(query.limit(_HISTORY))).all()
