"""Queries of enrolment tokens, and of agents with their certificates."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import DateTime, cast, delete, func, literal, select, text, tuple_
from sqlalchemy.dialects.postgresql import distinct_on

from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.hosts.certificates.models import CertificateRow
from wallwatch_backend.hosts.enrolment.models import EnrolmentTokenRow
from wallwatch_backend.kit.database import ReadSession, WriteSession

NO_CERTIFICATE = "infinity"
"""Sort key of an agent without a certificate among those ordered by the end of their certificates."""

LATE_AFTER = 0.75
"""Share of a certificate's lifetime after which its renewal counts as overdue: agents renew after half of it, and try again since."""

_NEWEST = (
    select(CertificateRow.agent_id, CertificateRow.issued_at, CertificateRow.not_after)
    .where(CertificateRow.revoked_at.is_(None))
    .ext(distinct_on(CertificateRow.agent_id))
    .order_by(CertificateRow.agent_id, CertificateRow.issued_at.desc())
    .subquery()
)
_LISTED = select(AgentRow, _NEWEST.c.issued_at, _NEWEST.c.not_after).outerjoin(_NEWEST, _NEWEST.c.agent_id == AgentRow.id)
_ENDS = func.coalesce(_NEWEST.c.not_after, cast(NO_CERTIFICATE, DateTime(timezone=True)))


class ListedAgent(NamedTuple):
    """An agent, and the validity of its newest certificate."""

    agent: AgentRow
    issued_at: datetime | None
    not_after: datetime | None


async def page(
    session: ReadSession, *, host: str | None, connected: bool | None, by_end: bool, after: tuple[str, ...] | None, limit: int
) -> list[ListedAgent]:
    """List agents by host, or (`by_end`) by the end of their certificate, soonest first.

    `after` is the sort key of the last agent of the page before: its host, or the end of its certificate as text and
    its host.
    """
    query = _LISTED.limit(limit)
    query = query.order_by(_ENDS, AgentRow.host) if by_end else query.order_by(AgentRow.host)
    if host is not None:
        query = query.where(AgentRow.host == host)
    if connected is not None:
        query = query.where(AgentRow.connection_id.is_not(None) if connected else AgentRow.connection_id.is_(None))
    if after is not None and by_end:
        query = query.where(tuple_(_ENDS, AgentRow.host) > tuple_(cast(after[0], DateTime(timezone=True)), literal(after[1])))
    elif after is not None:
        query = query.where(AgentRow.host > after[0])
    return [ListedAgent(*row) for row in await session.execute(query)]


async def every_agent(session: ReadSession) -> Sequence[ListedAgent]:
    """All agents by host."""
    return [ListedAgent(*row) for row in await session.execute(_LISTED.order_by(AgentRow.host))]


async def disconnected(session: ReadSession) -> Sequence[ListedAgent]:
    """Agents that are not connected, by host."""
    return [ListedAgent(*row) for row in await session.execute(_LISTED.where(AgentRow.connection_id.is_(None)).order_by(AgentRow.host))]


async def overdue(session: ReadSession, at: datetime) -> Sequence[ListedAgent]:
    """Agents whose newest certificate should have been renewed by now, by host."""
    c = _NEWEST.c
    life_s = func.extract("epoch", c.not_after - c.issued_at)
    age_s = func.extract("epoch", literal(at, DateTime(timezone=True)) - c.issued_at)
    return [ListedAgent(*row) for row in await session.execute(_LISTED.where(age_s >= life_s * LATE_AFTER).order_by(AgentRow.host))]


async def add(session: WriteSession, row: AgentRow | EnrolmentTokenRow) -> None:
    session.add(row)
    await session.flush()


async def token_locked(session: WriteSession, token_hash: bytes, at: datetime) -> EnrolmentTokenRow | None:
    """Return a token that has not expired; it may have been used."""
    query = select(EnrolmentTokenRow).where(EnrolmentTokenRow.token_hash == token_hash, EnrolmentTokenRow.expires_at > at)
    return (await session.scalars(query.with_for_update())).one_or_none()


async def lock_host(session: WriteSession, host: str) -> None:
    """Make other enrolments of the host wait until this one has ended; the row of a new host is not there yet to be locked."""
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:host, 7241025))"), {"host": host})


async def delete_stale_tokens(session: WriteSession, before: datetime) -> None:
    await session.execute(delete(EnrolmentTokenRow).where(EnrolmentTokenRow.expires_at < before))
