"""Queries of the table of agents."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, bindparam, cast, column, delete, func, select, update
from sqlalchemy.dialects.postgresql import ARRAY

from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import UUIDS


async def by_host(session: ReadSession, host: str) -> AgentRow | None:
    return (await session.scalars(select(AgentRow).where(AgentRow.host == host))).one_or_none()


async def by_host_locked(session: WriteSession, host: str) -> AgentRow | None:
    return (await session.scalars(select(AgentRow).where(AgentRow.host == host).with_for_update())).one_or_none()


async def by_id(session: ReadSession, agent_id: UUID) -> AgentRow | None:
    return await session.get(AgentRow, agent_id)


async def delete_one(session: WriteSession, agent_id: UUID) -> str | None:
    return (await session.execute(delete(AgentRow).where(AgentRow.id == agent_id).returning(AgentRow.host))).scalar_one_or_none()


async def note(session: WriteSession, agent_id: UUID, connection: UUID, **values: Any) -> bool:
    """Change an agent's state if this connection is still its newest; return whether it is."""
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
    """Note when agents were last heard (agent, connection, time); return those whose connection is still the newest."""
    agents, connections, times = zip(*sorted(heard), strict=True)  # by id, so that two replicas lock rows in the same order
    rows = await session.execute(_NOTE_HEARD, {"agents": list(agents), "connections": list(connections), "times": list(times)})
    return {(row.id, row.connection_id) for row in rows}


async def connect(session: WriteSession, agent_id: UUID, enrolled_at: datetime, connection_id: UUID, at: datetime) -> bool:
    """Make this connection the agent's newest; False when the agent was removed or has enrolled again since `enrolled_at`."""
    query = update(AgentRow).where(AgentRow.id == agent_id, AgentRow.enrolled_at == enrolled_at)
    query = query.values(connection_id=connection_id, last_seen_at=at).returning(AgentRow.id)
    return (await session.execute(query)).scalar_one_or_none() is not None


async def disconnect_silent(session: WriteSession, before: datetime) -> Sequence[UUID]:
    """Mark agents as disconnected that were last heard before a time, such as those of a replica that was killed."""
    query = (
        update(AgentRow)
        .where(AgentRow.connection_id.is_not(None), AgentRow.last_seen_at < before)
        .values(connection_id=None)
        .returning(AgentRow.id)
    )
    return (await session.scalars(query)).all()
