"""Queries of the keys that sign commands."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, or_, select, text, update

from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.hosts.command_keys.models import CommandKeyRow
from wallwatch_backend.kit.database import ReadSession, WriteSession

_K = CommandKeyRow


async def lock(session: WriteSession) -> None:
    """Let one transaction at a time rotate."""
    await session.execute(text("SELECT pg_advisory_xact_lock(7241016)"))


async def keys(session: ReadSession) -> Sequence[CommandKeyRow]:
    """All keys, oldest first; none before the first rotation."""
    return (await session.scalars(select(_K).order_by(_K.seq))).all()


async def add(session: WriteSession, row: CommandKeyRow) -> None:
    session.add(row)
    await session.flush()


async def trusted_by(session: ReadSession, host: str) -> list[str] | None:
    """Return the ids of the keys that a host's agent trusts; None if it has not reported them."""
    return (await session.execute(select(AgentRow.command_kids).where(AgentRow.host == host))).scalar_one_or_none()


async def agents_by_kid(session: ReadSession) -> dict[str, int]:
    """Return the number of agents that trust each key."""
    kid = func.unnest(AgentRow.command_kids).label("kid")
    kids = select(kid).subquery()
    return {row[0]: row[1] for row in await session.execute(select(kids.c.kid, func.count()).group_by(kids.c.kid))}


async def hosts_without(session: ReadSession, kid: str) -> Sequence[str]:
    """Return the hosts whose agents have not reported that they trust a key."""
    query = select(AgentRow.host).where(or_(AgentRow.command_kids.is_(None), ~AgentRow.command_kids.contains([kid])))
    return (await session.scalars(query.order_by(AgentRow.host))).all()


async def delete_private_keys(session: WriteSession, at: datetime) -> Sequence[str]:
    """Delete the private halves of keys that agents no longer accept; return their ids."""
    query = update(_K).where(_K.not_after <= at, _K.private_key.is_not(None)).values(private_key=None).returning(_K.kid)
    return (await session.scalars(query)).all()
