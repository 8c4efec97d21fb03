"""Queries of what holds remedies back."""

from datetime import datetime

from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert

from wallwatch.store.tables import rnic
from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.remedies.control.models import BreakerResetRow, StopRow
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.states import JUDGED, UNDER_WAY, RemedyState


async def lock(session: WriteSession) -> None:
    """Let one transaction at a time admit a remedy or stop all, so that counts stay true until the commit."""
    await session.execute(text("SELECT pg_advisory_xact_lock(7241015)"))


async def locked_at_once(session: WriteSession) -> bool:
    """Take that lock if it is free; return whether it was."""
    return bool((await session.execute(text("SELECT pg_try_advisory_xact_lock(7241015)"))).scalar_one())


async def stop_in_force(session: ReadSession) -> StopRow | None:
    return (await session.scalars(select(StopRow).where(StopRow.ended_at.is_(None)))).one_or_none()


def add(session: WriteSession, row: StopRow) -> None:
    session.add(row)


async def busy_hosts(session: ReadSession) -> set[str]:
    query = select(RemedyRow.host).where(RemedyRow.mode == "apply", RemedyRow.state.in_(UNDER_WAY)).distinct()
    return set((await session.scalars(query)).all())


async def racks_of(session: ReadSession, hosts: set[str]) -> set[str]:
    query = select(rnic.c.rack).where(rnic.c.host.in_(sorted(hosts)), rnic.c.rack.is_not(None), rnic.c.rack != "").distinct()
    return {row.rack for row in await session.execute(query)}


async def fleet_size(session: ReadSession) -> int:
    return (await session.execute(select(func.count()).select_from(AgentRow))).scalar_one()


async def awaiting_approval(session: ReadSession) -> int:
    return (await session.execute(select(func.count()).where(RemedyRow.state == RemedyState.pending))).scalar_one()


async def resets(session: ReadSession) -> dict[str, BreakerResetRow]:
    return {row.action: row for row in (await session.scalars(select(BreakerResetRow))).all()}


async def judged_since(session: ReadSession, action: str, since: datetime) -> dict[str, int]:
    """How many remedies of an action were judged since a time, by their state."""
    query = (
        select(RemedyRow.state, func.count())
        .where(RemedyRow.action == action, RemedyRow.mode == "apply", RemedyRow.state.in_(JUDGED), RemedyRow.updated_at > since)
        .group_by(RemedyRow.state)
    )
    return {row[0]: row[1] for row in await session.execute(query)}


async def reset(session: WriteSession, action: str, at: datetime, by: str) -> None:
    values = {"at": at, "by": by}
    await session.execute(
        insert(BreakerResetRow).values(action=action, **values).on_conflict_do_update(index_elements=["action"], set_=values)
    )
