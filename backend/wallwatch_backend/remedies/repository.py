"""Queries of remedies and commands."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Row, exists, select, text, tuple_, update

from wallwatch.domain.catalogue import load
from wallwatch.store.tables import rnic
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import any_of
from wallwatch_backend.remedies.models import CommandRow, RemedyRow

OPEN = ("pending", "dispatched")


async def page(
    session: ReadSession,
    *,
    host: str | None,
    pci: str | None,
    incident_id: UUID | None,
    states: Sequence[str] | None,
    before: tuple[datetime, UUID] | None,
    limit: int,
) -> Sequence[RemedyRow]:
    query = select(RemedyRow).where(RemedyRow.action.not_in(load.internal_actions()))
    if host is not None:
        query = query.where(RemedyRow.host == host)
    if pci is not None:
        query = query.where(RemedyRow.pci == pci)
    if incident_id is not None:
        query = query.where(RemedyRow.incident_id == incident_id)
    if states:
        query = query.where(RemedyRow.state.in_(states))
    if before is not None:
        query = query.where(tuple_(RemedyRow.created_at, RemedyRow.id) < before)
    return (await session.scalars(query.order_by(RemedyRow.created_at.desc(), RemedyRow.id.desc()).limit(limit))).all()


async def one(session: ReadSession, remedy_id: UUID) -> RemedyRow | None:
    return await session.get(RemedyRow, remedy_id)


async def one_locked(session: WriteSession, remedy_id: UUID) -> RemedyRow | None:
    query = select(RemedyRow).where(RemedyRow.id == remedy_id).with_for_update().execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


async def by_idempotency_key(session: WriteSession, requested_by: str, key: str) -> RemedyRow | None:
    query = select(RemedyRow).where(RemedyRow.requested_by == requested_by, RemedyRow.idempotency_key == key)
    return (await session.scalars(query)).one_or_none()


async def lock_key(session: WriteSession, key: str) -> None:
    """Let one transaction at a time order under this key (an Idempotency-Key of a caller, or a host and action)."""
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 7241003))"), {"key": key})


async def in_progress(session: WriteSession, host: str, action: str, pci: str | None, but: UUID | None = None) -> UUID | None:
    """A remedy of this action whose command waits for the host's answer, or that waits for approval."""
    waits = exists().where(CommandRow.remedy_id == RemedyRow.id, CommandRow.state.in_(OPEN))
    query = select(RemedyRow.id).where(RemedyRow.host == host, RemedyRow.action == action, waits | (RemedyRow.state == "proposed")).limit(1)
    if pci is not None:
        query = query.where(RemedyRow.pci == pci)
    if but is not None:
        query = query.where(RemedyRow.id != but)
    return (await session.execute(query)).scalar_one_or_none()


async def rnics_at(session: ReadSession, host: str, pci: str | None) -> Sequence[Row[str, str, str | None, str | None]]:
    """The RNIC, or all of the host (`pci`, `rack`, `model`, `fw_ver`)."""
    query = select(rnic.c.pci, rnic.c.rack, rnic.c.model, rnic.c.fw_ver).where(rnic.c.host == host).order_by(rnic.c.pci)
    return (await session.execute(query.where(rnic.c.pci == pci) if pci is not None else query)).all()


async def add(session: WriteSession, row: RemedyRow | CommandRow) -> None:
    session.add(row)
    await session.flush()


async def commands(session: ReadSession, remedy_ids: Sequence[UUID]) -> Sequence[CommandRow]:
    query = select(CommandRow).where(CommandRow.remedy_id.in_(remedy_ids)).order_by(CommandRow.issued_at, CommandRow.id)
    return (await session.scalars(query)).all()


async def command_locked(session: WriteSession, command_id: UUID, host: str) -> CommandRow | None:
    """A command, if it was for this host: an agent speaks for its own host only."""
    query = select(CommandRow).where(CommandRow.id == command_id, CommandRow.host == host).with_for_update()
    return (await session.scalars(query)).one_or_none()


async def undelivered(session: ReadSession, host: str, at: datetime) -> Sequence[Row[UUID, UUID, str]]:
    """Commands of a host that have no result yet and that its agent would still accept."""
    query = (
        select(CommandRow.id, CommandRow.remedy_id, CommandRow.jws)
        .where(CommandRow.host == host, CommandRow.state.in_(OPEN), CommandRow.expires_at > at)
        .order_by(CommandRow.issued_at)
    )
    return (await session.execute(query)).all()


async def mark_sent(session: WriteSession, command_id: UUID, at: datetime) -> bool:
    """Note the first sending; False when it was sent before or has a result."""
    query = (
        update(CommandRow)
        .where(CommandRow.id == command_id, CommandRow.state == "pending")
        .values(state="dispatched", sent_at=at)
        .returning(CommandRow.id)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def unanswered_since(session: ReadSession, never_sent: datetime, sent: datetime) -> Sequence[Row[UUID, str]]:
    """Commands whose time is over: at once when they were never sent, after a grace when they were."""
    query = select(CommandRow.id, CommandRow.host).where(
        ((CommandRow.state == "pending") & (CommandRow.expires_at <= never_sent))
        | ((CommandRow.state == "dispatched") & (CommandRow.expires_at <= sent))
    )
    return (await session.execute(query)).all()


async def proposed_before(session: ReadSession, at: datetime) -> Sequence[UUID]:
    """Remedies that have waited for approval since before a time."""
    return (await session.scalars(select(RemedyRow.id).where(RemedyRow.state == "proposed", RemedyRow.created_at <= at))).all()


async def to_verify(session: ReadSession) -> Sequence[UUID]:
    query = select(RemedyRow.id).where(RemedyRow.state == "applied", RemedyRow.verification.is_not(None))
    return (await session.scalars(query)).all()


async def ids_of_incidents(session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
    """Remedies that were ordered for these incidents, oldest first: (remedy, incident)."""
    query = select(RemedyRow.id, RemedyRow.incident_id).where(RemedyRow.incident_id == any_of(incident_ids)).order_by(RemedyRow.created_at)
    return [(row.id, row.incident_id) for row in await session.execute(query) if row.incident_id is not None]
