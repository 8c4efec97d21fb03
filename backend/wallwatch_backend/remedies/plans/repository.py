"""Queries of plans."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Text, cast, select, text, tuple_, update
from sqlalchemy.orm import undefer

from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.orders.actions import MASK_PLAN
from wallwatch_backend.remedies.plans.models import PlanRow
from wallwatch_backend.remedies.plans.states import OPEN, PlanState
from wallwatch_backend.remedies.states import REMEDY

READ_FLOWS = "read-flows"
P = PlanRow


async def lock_rnic(session: WriteSession, host: str, pci: str) -> None:
    """Let one transaction at a time create a plan for an RNIC."""
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 7241019))"), {"key": f"plan|{host}|{pci}"})


async def add(session: WriteSession, row: PlanRow | RemedyRow) -> None:
    """Write a plan, or the remedy that reads its flows."""
    session.add(row)
    await session.flush()


async def one(session: ReadSession, plan_id: UUID, *, whole: bool = False) -> PlanRow | None:
    """A plan; `whole` with its dumps and operations."""
    query = select(P).where(P.id == plan_id)
    return (await session.scalars(query.options(*_BLOBS) if whole else query)).one_or_none()


_BLOBS = (undefer(P.flows), undefer(P.operations), undefer(P.flows_after))


async def one_locked(session: WriteSession, plan_id: UUID) -> PlanRow | None:
    query = select(P).where(P.id == plan_id).with_for_update().execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


async def page(
    session: ReadSession, *, host: str | None, pci: str | None, state: str | None, before: tuple[datetime, UUID] | None, limit: int
) -> Sequence[PlanRow]:
    query = select(P)
    for column, value in ((P.host, host), (P.pci, pci), (P.state, state)):
        if value is not None:
            query = query.where(column == value)
    if before is not None:
        query = query.where(tuple_(P.created_at, P.id) < before)
    return (await session.scalars(query.order_by(P.created_at.desc(), P.id.desc()).limit(limit))).all()


async def in_progress(session: ReadSession, host: str, pci: str) -> UUID | None:
    query = select(P.id).where(P.host == host, P.pci == pci, P.state.in_(OPEN)).limit(1)
    return (await session.scalars(query)).one_or_none()


async def read_by(session: WriteSession, remedy_id: UUID) -> PlanRow | None:
    """The plan whose flows a remedy reads."""
    return (await session.scalars(select(P).where(P.read_remedy_id == remedy_id).with_for_update())).one_or_none()


async def remedies_of(session: ReadSession, plan_id: UUID) -> Sequence[UUID]:
    query = (
        select(RemedyRow.id)
        .where(RemedyRow.action == MASK_PLAN, RemedyRow.params["plan"].astext == str(plan_id))
        .order_by(RemedyRow.created_at.desc())
    )
    return (await session.scalars(query)).all()


async def command(session: ReadSession, command_id: UUID, host: str) -> tuple[CommandRow, RemedyRow] | None:
    query = (
        select(CommandRow, RemedyRow)
        .join(RemedyRow, RemedyRow.id == CommandRow.remedy_id)
        .where(CommandRow.id == command_id, CommandRow.host == host)
    )
    found = (await session.execute(query)).one_or_none()
    return None if found is None else (found[0], found[1])


async def operations_for(session: ReadSession, command_id: UUID) -> tuple[str, bytes] | None:
    """What must be sent ahead of a command: hash and operations; None for other remedies and for an undo."""
    query = (
        select(P.operations_sha256, P.operations)
        .join(RemedyRow, RemedyRow.params["plan"].astext == cast(P.id, Text))
        .join(CommandRow, CommandRow.remedy_id == RemedyRow.id)
        .where(CommandRow.id == command_id, CommandRow.operation != "undo", RemedyRow.action == MASK_PLAN, P.operations.is_not(None))
    )
    found = (await session.execute(query)).one_or_none()
    return None if found is None or found[0] is None or found[1] is None else (found[0], found[1])


async def waiting(session: ReadSession) -> Sequence[UUID]:
    """Plans whose flows have arrived."""
    return (await session.scalars(select(P.id).where(P.state == PlanState.planning).order_by(P.created_at))).all()


_READING_OVER = REMEDY.where(lambda state: state.over)


async def never_read(session: ReadSession) -> Sequence[tuple[UUID, str, str | None]]:
    """Plans whose flows will never arrive: (plan, state and message of the order to read them)."""
    query = (
        select(P.id, RemedyRow.state, RemedyRow.message)
        .join(RemedyRow, RemedyRow.id == P.read_remedy_id)
        .where(P.state == PlanState.reading, RemedyRow.state.in_(_READING_OVER))
    )
    return [(row[0], row[1], row[2]) for row in await session.execute(query)]


async def to_check(session: ReadSession) -> Sequence[UUID]:
    return (await session.scalars(select(P.id).where(P.flows_after.is_not(None)).order_by(P.updated_at))).all()


async def forget_before(session: WriteSession, at: datetime) -> None:
    """Delete the dumps of old plans; their reports stay."""
    await session.execute(update(P).where(P.created_at < at, P.flows.is_not(None)).values(flows=None, flows_after=None))


_DECLINING = text(
    """
    SELECT r.host, r.pci FROM rnic_forecast f JOIN rnic r USING (rnic_id) JOIN agent a ON a.host = r.host
    WHERE f.decline_since IS NOT NULL AND f.made_at > :fresh AND a.connection_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM mask_plan p WHERE p.host = r.host AND p.pci = r.pci AND p.created_at > :again)
    ORDER BY f.decline_in_s NULLS LAST, f.decline_since, r.host, r.pci
    LIMIT GREATEST(0, :most - (SELECT count(*) FROM mask_plan WHERE trigger = 'forecast' AND state = ANY(:open)))
    """
)


async def declining(session: ReadSession, fresh: datetime, again: datetime, most: int) -> list[tuple[str, str]]:
    """RNICs with a decline forecast since `fresh` and no plan since `again`, the next decline first; at most so many under way at once."""
    found = await session.execute(_DECLINING, {"fresh": fresh, "again": again, "most": most, "open": list(OPEN)})
    return [(row[0], row[1]) for row in found]
