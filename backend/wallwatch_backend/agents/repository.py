"""Queries of agents and enrolment tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import DateTime, bindparam, cast, column, delete, func, literal, select, tuple_, update
from sqlalchemy.dialects.postgresql import ARRAY, distinct_on

from wallwatch_backend.agents.models import AgentRow, EnrolmentTokenRow
from wallwatch_backend.certificates.models import CertificateRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import UUIDS

NO_CERTIFICATE = "infinity"
"""Where an agent without a certificate stands among those whose certificates end."""

_NEWEST = (
    select(CertificateRow.agent_id, CertificateRow.issued_at, CertificateRow.not_after)
    .where(CertificateRow.revoked_at.is_(None))
    .ext(distinct_on(CertificateRow.agent_id))
    .order_by(CertificateRow.agent_id, CertificateRow.issued_at.desc())
    .subquery()
)
_ENDS = func.coalesce(_NEWEST.c.not_after, cast(NO_CERTIFICATE, DateTime(timezone=True)))


class Listed(NamedTuple):
    """An agent, and from when to when its newest certificate is good."""

    agent: AgentRow
    issued_at: datetime | None
    not_after: datetime | None


async def page(
    session: ReadSession, *, host: str | None, connected: bool | None, by_end: bool, after: tuple[str, ...] | None, limit: int
) -> list[Listed]:
    """List agents by host, or (`by_end`) those first whose certificates end first. `after` is the host of the last one that was given, or
    the end of its certificate as text and its host."""
    query = select(AgentRow, _NEWEST.c.issued_at, _NEWEST.c.not_after).outerjoin(_NEWEST, _NEWEST.c.agent_id == AgentRow.id).limit(limit)
    query = query.order_by(_ENDS, AgentRow.host) if by_end else query.order_by(AgentRow.host)
    if host is not None:
        query = query.where(AgentRow.host == host)
    if connected is not None:
        query = query.where(AgentRow.connection_id.is_not(None) if connected else AgentRow.connection_id.is_(None))
    if after is not None and by_end:
        query = query.where(tuple_(_ENDS, AgentRow.host) > tuple_(cast(after[0], DateTime(timezone=True)), literal(after[1])))
    elif after is not None:
        query = query.where(AgentRow.host > after[0])
    return [Listed(*row) for row in await session.execute(query)]


async def by_host(session: ReadSession, host: str) -> AgentRow | None:
    return (await session.scalars(select(AgentRow).where(AgentRow.host == host))).one_or_none()


async def by_host_locked(session: WriteSession, host: str) -> AgentRow | None:
    return (await session.scalars(select(AgentRow).where(AgentRow.host == host).with_for_update())).one_or_none()


async def by_id(session: ReadSession, agent_id: UUID) -> AgentRow | None:
    return await session.get(AgentRow, agent_id)


async def add(session: WriteSession, row: AgentRow | EnrolmentTokenRow) -> None:
    session.add(row)
    await session.flush()


async def delete_one(session: WriteSession, agent_id: UUID) -> str | None:
    return (await session.execute(delete(AgentRow).where(AgentRow.id == agent_id).returning(AgentRow.host))).scalar_one_or_none()


async def usable_token_locked(session: WriteSession, token_hash: bytes, at: datetime) -> EnrolmentTokenRow | None:
    query = select(EnrolmentTokenRow).where(
        EnrolmentTokenRow.token_hash == token_hash, EnrolmentTokenRow.used_at.is_(None), EnrolmentTokenRow.expires_at > at
    )
    return (await session.scalars(query.with_for_update())).one_or_none()


async def delete_stale_tokens(session: WriteSession, before: datetime) -> None:
    await session.execute(delete(EnrolmentTokenRow).where(EnrolmentTokenRow.expires_at < before))


async def note(session: WriteSession, agent_id: UUID, connection: UUID, **values: Any) -> bool:
    """Change an agent's state, if this connection is still its newest; say whether it is."""
    query = update(AgentRow).where(AgentRow.id == agent_id, AgentRow.connection_id == connection).values(**values).returning(AgentRow.id)
    return (await session.execute(query)).scalar_one_or_none() is not None


_TIMES = ARRAY(DateTime(timezone=True))
_heard = (
    func.unnest(
        cast(bindparam("agents", type_=UUIDS), UUIDS),
        cast(bindparam("connections", type_=UUIDS), UUIDS),
        cast(bindparam("times", type_=_TIMES), _TIMES),
    )
    .table_valued(column("agent", UUIDS.item_type), column("connection", UUIDS.item_type), column("at", _TIMES.item_type), name="heard")
    .render_derived()
)
_NOTE_HEARD = (
    update(AgentRow)
    .where(AgentRow.id == _heard.c.agent, AgentRow.connection_id == _heard.c.connection)
    .values(last_seen_at=_heard.c.at)
    .returning(AgentRow.id, AgentRow.connection_id)
    .execution_options(synchronize_session=False)
)


async def note_heard(session: WriteSession, heard: Sequence[tuple[UUID, UUID, datetime]]) -> set[tuple[UUID, UUID]]:
    """Note when agents were heard (agent, connection, time); return those whose connection is still the newest."""
    agents, connections, times = zip(*sorted(heard), strict=True)  # by id, so that two replicas lock rows in one order
    rows = await session.execute(_NOTE_HEARD, {"agents": list(agents), "connections": list(connections), "times": list(times)})
    return {(row.id, row.connection_id) for row in rows}


async def connect(session: WriteSession, agent_id: UUID, connection_id: UUID, at: datetime) -> bool:
    """Make this connection the agent's newest; False when the agent was removed."""
    query = update(AgentRow).where(AgentRow.id == agent_id).values(connection_id=connection_id, last_seen_at=at).returning(AgentRow.id)
    return (await session.execute(query)).scalar_one_or_none() is not None


async def disconnect_silent(session: WriteSession, before: datetime) -> Sequence[UUID]:
    """Mark agents as disconnected whose replica died without saying so."""
    query = (
        update(AgentRow)
        .where(AgentRow.connection_id.is_not(None), AgentRow.last_seen_at < before)
        .values(connection_id=None)
        .returning(AgentRow.id)
    )
    return (await session.scalars(query)).all()
