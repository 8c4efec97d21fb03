"""Queries of versions and of functions' terms."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import func, select, text
from sqlalchemy.orm import defer

from wallwatch_backend.contention.models.models import NetworkFunctionRow, NfModelVersionRow
from wallwatch_backend.kit.database import ReadSession, WriteSession

V = NfModelVersionRow


async def lock(session: WriteSession, function: str) -> None:
    """One change of a function's versions at a time."""
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:function, 7241023))"), {"function": function})


async def all_versions(session: ReadSession) -> Sequence[NfModelVersionRow]:
    """Every version without its model, which is large."""
    query = select(V).options(defer(V.model, raiseload=True)).order_by(V.function, V.nic_model, V.firmware, V.number.desc())
    return (await session.scalars(query)).all()


async def versions(session: ReadSession, function: str, nic_model: str, firmware: str) -> Sequence[NfModelVersionRow]:
    query = (
        select(V)
        .options(defer(V.model, raiseload=True))
        .where(V.function == function, V.nic_model == nic_model, V.firmware == firmware)
        .order_by(V.number.desc())
    )
    return (await session.scalars(query)).all()


async def version(session: ReadSession, id: UUID) -> NfModelVersionRow | None:
    return await session.get(V, id)


async def active(session: ReadSession, function: str, nic_model: str, firmware: str) -> NfModelVersionRow | None:
    """The version that is active for exactly this firmware."""
    query = select(V).where(V.function == function, V.nic_model == nic_model, V.firmware == firmware, V.state == "active")
    return (await session.scalars(query)).one_or_none()


async def active_of(session: ReadSession, functions: Iterable[str], nic_model: str, firmware: str) -> dict[str, NfModelVersionRow]:
    """By function, the active version of this firmware, else that of all firmwares."""
    query = (
        select(V)
        .where(V.function.in_(set(functions)), V.nic_model == nic_model, V.firmware.in_({"", firmware}), V.state == "active")
        .order_by(V.firmware)
    )
    return {row.function: row for row in await session.scalars(query)}


async def before(session: ReadSession, present: NfModelVersionRow) -> NfModelVersionRow | None:
    """The version that was promoted last before another one; what was promoted later has been rolled back itself."""
    query = (
        select(V)
        .where(V.function == present.function, V.nic_model == present.nic_model, V.firmware == present.firmware, V.state == "retired")
        .where(V.promoted_at < present.promoted_at)
        .order_by(V.promoted_at.desc())
        .limit(1)
    )
    return (await session.scalars(query)).one_or_none()


async def next_number(session: ReadSession, function: str, nic_model: str, firmware: str) -> int:
    query = select(func.max(V.number)).where(V.function == function, V.nic_model == nic_model, V.firmware == firmware)
    return ((await session.execute(query)).scalar_one() or 0) + 1


async def add(session: WriteSession, row: NfModelVersionRow) -> None:
    session.add(row)
    await session.flush()
    await session.refresh(row)


async def terms(session: ReadSession) -> dict[str, NetworkFunctionRow]:
    return {row.name: row for row in await session.scalars(select(NetworkFunctionRow))}


async def terms_of(session: ReadSession, name: str) -> NetworkFunctionRow | None:
    return await session.get(NetworkFunctionRow, name)


async def add_terms(session: WriteSession, row: NetworkFunctionRow) -> None:
    session.add(row)
    await session.flush()
