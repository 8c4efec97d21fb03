"""Queries of authorities and of the certificates of agents."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import delete, func, select, text, update

from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.hosts.certificates.models import AuthorityRow, CertificateRow
from wallwatch_backend.kit.database import ReadSession, WriteSession

_C = CertificateRow


async def lock(session: WriteSession) -> None:
    """Let one transaction at a time create an authority."""
    await session.execute(text("SELECT pg_advisory_xact_lock(7241021)"))


async def authorities(session: ReadSession) -> Sequence[AuthorityRow]:
    """All authorities, oldest first."""
    return (await session.scalars(select(AuthorityRow).order_by(AuthorityRow.seq))).all()


async def add(session: WriteSession, row: AuthorityRow | CertificateRow) -> None:
    session.add(row)
    await session.flush()


async def with_agent(session: ReadSession, fingerprint: str) -> tuple[CertificateRow, AgentRow] | None:
    """Return a certificate and the agent that it was issued to."""
    query = select(_C, AgentRow).join(AgentRow, AgentRow.id == _C.agent_id).where(_C.fingerprint == fingerprint)
    row = (await session.execute(query)).one_or_none()
    return (row[0], row[1]) if row is not None else None


async def note_first_use(session: WriteSession, fingerprint: str, at: datetime) -> bool:
    """Note the first connection with a certificate; return whether this is it."""
    query = update(_C).where(_C.fingerprint == fingerprint, _C.used_at.is_(None)).values(used_at=at).returning(_C.fingerprint)
    return (await session.execute(query)).scalar_one_or_none() is not None


async def revoke(
    session: WriteSession, agent_id: UUID, at: datetime, *, except_for: str | None = None, issued_before: datetime | None = None
) -> None:
    """Revoke an agent's certificates: all, or those issued before another."""
    query = update(_C).where(_C.agent_id == agent_id, _C.revoked_at.is_(None))
    if except_for is not None:
        query = query.where(_C.fingerprint != except_for)
    if issued_before is not None:
        query = query.where(_C.issued_at <= issued_before)
    await session.execute(query.values(revoked_at=at))


async def agents_by_authority(session: ReadSession, at: datetime) -> dict[str, int]:
    """Return the number of agents with a valid certificate, per authority."""
    query = (
        select(_C.authority, func.count(_C.agent_id.distinct())).where(_C.revoked_at.is_(None), _C.not_after > at).group_by(_C.authority)
    )
    return {row[0]: row[1] for row in await session.execute(query)}


async def hosts_without(session: ReadSession, authority: str, at: datetime) -> Sequence[str]:
    """Return the hosts whose agents have no valid certificate of an authority."""
    have = select(_C.agent_id).where(_C.authority == authority, _C.revoked_at.is_(None), _C.not_after > at)
    return (await session.scalars(select(AgentRow.host).where(AgentRow.id.not_in(have)).order_by(AgentRow.host))).all()


async def delete_private_keys(session: WriteSession, at: datetime) -> Sequence[str]:
    """Delete the private keys of retired authorities; return their fingerprints."""
    row = AuthorityRow
    query = update(row).where(row.not_after <= at, row.private_key.is_not(None)).values(private_key=None).returning(row.fingerprint)
    return (await session.scalars(query)).all()


async def delete_expired(session: WriteSession, before: datetime) -> None:
    """Delete certificates that expired before a time; they are refused as unknown from then on."""
    await session.execute(delete(_C).where(_C.not_after < before))
