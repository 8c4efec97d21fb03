"""Queries of the keys that sign commands."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, or_, select, text, update

from wallwatch_backend.agents.models import AgentRow
from wallwatch_backend.command_keys.models import CommandKeyRow
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
    """Ids of the keys that a host's agent trusts; None when it has not said."""
    return (await session.execute(select(AgentRow.command_kids).where(AgentRow.host == host))).scalar_one_or_none()


async def agents_by_kid(session: ReadSession) -> dict[str, int]:
    kid = func.unnest(AgentRow.command_kids).label("kid")
    each = select(kid).subquery()
    return {row[0]: row[1] for row in await session.execute(select(each.c.kid, func.count()).group_by(each.c.kid))}


async def hosts_without(session: ReadSession, kid: str) -> Sequence[str]:
    query = select(AgentRow.host).where(or_(AgentRow.command_kids.is_(None), ~AgentRow.command_kids.contains([kid])))
    return (await session.scalars(query.order_by(AgentRow.host))).all()


async def forget_private(session: WriteSession, at: datetime) -> Sequence[str]:
    """Forget the private half of keys that agents do not accept any more."""
    query = update(_K).where(_K.not_after <= at, _K.private_key.is_not(None)).values(private_key=None).returning(_K.kid)
    return (await session.scalars(query)).all()
