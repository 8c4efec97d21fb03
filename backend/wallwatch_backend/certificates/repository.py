"""Queries of authorities and of the certificates of agents."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, text, update

from wallwatch_backend.agents.models import AgentRow
from wallwatch_backend.certificates.models import AuthorityRow, CertificateRow
from wallwatch_backend.kit.database import ReadSession, WriteSession

_C = CertificateRow


async def lock(session: WriteSession) -> None:
    """Let one transaction at a time make an authority."""
    await session.execute(text("SELECT pg_advisory_xact_lock(7241021)"))


async def authorities(session: ReadSession) -> Sequence[AuthorityRow]:
    """All authorities, oldest first."""
    return (await session.scalars(select(AuthorityRow).order_by(AuthorityRow.seq))).all()


async def add(session: WriteSession, row: AuthorityRow | CertificateRow) -> None:
    session.add(row)
    await session.flush()


async def with_agent(session: ReadSession, fingerprint: str) -> tuple[CertificateRow, AgentRow] | None:
    """A certificate and the agent that it was given to."""
    query = select(_C, AgentRow).join(AgentRow, AgentRow.id == _C.agent_id).where(_C.fingerprint == fingerprint)
    row = (await session.execute(query)).one_or_none()
    return (row[0], row[1]) if row is not None else None


async def note_first_use(session: WriteSession, fingerprint: str, at: datetime) -> bool:
    """Say whether this is the first connection with a certificate."""
    query = update(_C).where(_C.fingerprint == fingerprint, _C.used_at.is_(None)).values(used_at=at).returning(_C.fingerprint)
    return (await session.execute(query)).scalar_one_or_none() is not None


async def revoke(
    session: WriteSession, agent_id: UUID, at: datetime, *, but: str | None = None, issued_before: datetime | None = None
) -> None:
    """Revoke an agent's certificates: all, or those that came before another."""
    query = update(_C).where(_C.agent_id == agent_id, _C.revoked_at.is_(None))
    if but is not None:
        query = query.where(_C.fingerprint != but)
    if issued_before is not None:
        query = query.where(_C.issued_at <= issued_before)
    await session.execute(query.values(revoked_at=at))


async def agents_by_authority(session: ReadSession, at: datetime) -> dict[str, int]:
    """How many agents have a certificate in force of each authority."""
    query = (
        select(_C.authority, func.count(_C.agent_id.distinct())).where(_C.revoked_at.is_(None), _C.not_after > at).group_by(_C.authority)
    )
    return {row[0]: row[1] for row in await session.execute(query)}


async def hosts_without(session: ReadSession, authority: str, at: datetime) -> Sequence[str]:
    """Hosts whose agents have no certificate in force of an authority."""
    have = select(_C.agent_id).where(_C.authority == authority, _C.revoked_at.is_(None), _C.not_after > at)
    return (await session.scalars(select(AgentRow.host).where(AgentRow.id.not_in(have)).order_by(AgentRow.host))).all()


async def forget_private(session: WriteSession, at: datetime) -> Sequence[str]:
    """Forget the private keys of authorities that have ended."""
    row = AuthorityRow
    query = update(row).where(row.not_after <= at, row.private_key.is_not(None)).values(private_key=None).returning(row.fingerprint)
    return (await session.scalars(query)).all()


async def forget_ended(session: WriteSession, before: datetime) -> None:
    """Delete certificates that ended long ago; who shows one is told that it is unknown."""
    await session.execute(delete(_C).where(_C.not_after < before))
