"""Queries of remedies and commands."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import DateTime, Row, Select, Text, bindparam, cast, column, exists, func, select, text, tuple_, update
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by

from wallwatch.domain.catalogue import load
from wallwatch.store.tables import rnic
from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.hosts.command_keys.models import CommandKeyRow
from wallwatch_backend.incidents.models import IncidentFindingRow as FindingRow
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import any_of, any_of_texts
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.states import OPEN_COMMAND, CommandState, RemedyState

_HELD = "remedies.held"


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


async def effect_samples(session: ReadSession, remedy_id: UUID) -> Sequence[tuple[datetime, float]]:
    """The kept samples of a remedy's effect, oldest first."""
    kept = (await session.execute(select(RemedyRow.effect_samples).where(RemedyRow.id == remedy_id))).scalar_one_or_none()
    return [(datetime.fromisoformat(at), value) for at, value in (kept or {}).get("samples", ())]


async def one_locked(session: WriteSession, remedy_id: UUID) -> RemedyRow | None:
    held: RemedyRow | None = session.info.get(_HELD, ({}, {}))[1].get(remedy_id)
    if held is not None:
        return held
    query = select(RemedyRow).where(RemedyRow.id == remedy_id).with_for_update().execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()


_LOCKS = text("SELECT pg_advisory_xact_lock(hashtextextended(u.k, 7241003)) FROM unnest(CAST(:keys AS text[])) WITH ORDINALITY AS u (k, n)")


async def lock_keys(session: WriteSession, keys: Sequence[str]) -> None:
    """Take several such locks in one statement, in this order."""
    if keys:
        await session.execute(_LOCKS, {"keys": list(keys)})


_TRY = text(
    "SELECT u.n, pg_try_advisory_xact_lock(hashtextextended(u.k, 7241003))"
    " FROM unnest(CAST(:keys AS text[]), CAST(:numbers AS int[])) AS u (k, n)"
)


async def locked_at_once(session: WriteSession, names: Sequence[Sequence[str]]) -> list[bool]:
    """Take the locks of several orders without waiting; return for each whether all of its locks were free."""
    keys = [(name, number) for number, of_one in enumerate(names) for name in of_one]
    found = [True] * len(names)
    values = {"keys": [name for name, _ in keys], "numbers": [number for _, number in keys]}
    for number, free in await session.execute(_TRY, values):
        found[number] = found[number] and free
    return found


def place_lock(host: str, action: str) -> str:
    """Name of the lock of an action on a host."""
    return f"host|{host}|{action}"


async def lock_key(session: WriteSession, key: str) -> None:
    """Let one transaction at a time order under this key (an Idempotency-Key of a caller, or a host and action)."""
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 7241003))"), {"key": key})


async def in_progress(session: WriteSession, host: str, action: str, pci: str | None, but: UUID | None = None) -> UUID | None:
    """A remedy of this action whose command waits for the host's answer, or that waits for approval."""
    query = _in_progress(host, action)
    if pci is not None:
        query = query.where(RemedyRow.pci == pci)
    if but is not None:
        query = query.where(RemedyRow.id != but)
    return (await session.execute(query)).scalar_one_or_none()


def _in_progress(host: Any, action: Any) -> Select[UUID]:
    waits = exists().where(CommandRow.remedy_id == RemedyRow.id, CommandRow.state.in_(OPEN_COMMAND)) | (
        RemedyRow.state == RemedyState.pending
    )
    return select(RemedyRow.id).where(RemedyRow.host == host, RemedyRow.action == action, waits).limit(1)


class Standing(NamedTuple):
    """What must be known before an order is accepted."""

    earlier: UUID | None
    """The remedy that was created under the same Idempotency-Key."""
    has_agent: bool
    trusted: list[str] | None
    """Keys that the host's agent reports as trusted."""
    good_keys: list[str]
    """Keys that may sign, oldest first; none before the first rotation."""
    in_progress: UUID | None
    """Another remedy of the action that is not over on this host."""


class Place(NamedTuple):
    """What an order is for, and its Idempotency-Key."""

    host: str
    action: str
    pci: str | None
    caller: str
    key: str | None


_TEXTS: ARRAY[str] = ARRAY(Text())
_asked = (
    func.unnest(*(cast(bindparam(name, type_=_TEXTS), _TEXTS) for name in Place._fields))
    .table_valued(*(column(name, Text()) for name in Place._fields), with_ordinality="n", name="asked")
    .render_derived()
)
_STANDING = (
    select(
        select(RemedyRow.id).where(RemedyRow.requested_by == _asked.c.caller, RemedyRow.idempotency_key == _asked.c.key).scalar_subquery(),
        exists().where(AgentRow.host == _asked.c.host),
        select(AgentRow.command_kids).where(AgentRow.host == _asked.c.host).scalar_subquery(),
        select(func.array_agg(aggregate_order_by(CommandKeyRow.kid, CommandKeyRow.seq)))
        .where(CommandKeyRow.not_after.is_(None) | (CommandKeyRow.not_after > bindparam("at", type_=DateTime(timezone=True))))
        .scalar_subquery(),
        _in_progress(_asked.c.host, _asked.c.action).where(_asked.c.pci.is_(None) | (RemedyRow.pci == _asked.c.pci)).scalar_subquery(),
    )
    .select_from(_asked)
    .order_by(_asked.c.n)
)


async def standings(session: WriteSession, places: Sequence[Place], at: datetime) -> list[Standing]:
    """Read in one statement what must be known before orders are accepted."""
    columns = {name: list(values) for name, values in zip(Place._fields, zip(*places, strict=True), strict=True)}
    rows = await session.execute(_STANDING, {**columns, "at": at})
    return [Standing(earlier, has_agent, trusted, good or [], other) for earlier, has_agent, trusted, good, other in rows]


async def rnics_at(session: ReadSession, host: str, pci: str | None) -> Sequence[Row[str, str, str | None, str | None]]:
    """The RNIC, or all RNICs of the host (`pci`, `rack`, `model`, `fw_ver`)."""
    query = select(rnic.c.pci, rnic.c.rack, rnic.c.model, rnic.c.fw_ver).where(rnic.c.host == host).order_by(rnic.c.pci)
    return (await session.execute(query.where(rnic.c.pci == pci) if pci is not None else query)).all()


def keep(session: WriteSession, row: RemedyRow | CommandRow) -> None:
    """Add a row with the next flush; a remedy must have been flushed before its command."""
    session.add(row)


async def commands(session: ReadSession, remedy_ids: Sequence[UUID]) -> Sequence[CommandRow]:
    query = select(CommandRow).where(CommandRow.remedy_id.in_(remedy_ids)).order_by(CommandRow.issued_at, CommandRow.id)
    return (await session.scalars(query)).all()


async def hold(session: WriteSession, command_ids: Sequence[UUID]) -> dict[UUID | None, UUID | None]:
    """Lock many commands and their remedies in one statement; the rest of the transaction sees no other command.

    Returns the incident of each command that exists. Every transaction that locks both locks the remedy first, and several by id: so no
    two transactions wait for each other.
    """
    query = (
        select(RemedyRow, CommandRow)
        .join_from(RemedyRow, CommandRow, CommandRow.remedy_id == RemedyRow.id)
        .where(CommandRow.id == any_of(command_ids))
        .order_by(RemedyRow.id, CommandRow.id)
        .with_for_update()
    )
    found = (await session.execute(query)).all()
    session.info[_HELD] = ({command.id: command for _, command in found}, {remedy.id: remedy for remedy, _ in found})
    return {command.id: remedy.incident_id for remedy, command in found}


async def command_locked(session: WriteSession, command_id: UUID, host: str) -> CommandRow | None:
    """A command, if it was for this host: an agent may report for its own host only."""
    if _HELD in session.info:
        command: CommandRow | None = session.info[_HELD][0].get(command_id)
        return command if command is not None and command.host == host else None
    query = select(CommandRow).where(CommandRow.id == command_id, CommandRow.host == host).with_for_update()
    return (await session.scalars(query)).one_or_none()


async def undelivered(session: ReadSession, hosts: Sequence[str], at: datetime) -> Sequence[Row[UUID, str, str, str, str, str]]:
    """Commands of these hosts that have no result yet and that their agents would still accept, oldest first.

    Columns: `id`, `host`, `jws`, `state`, `operation`, `action`.
    """
    query = (
        select(CommandRow.id, CommandRow.host, CommandRow.jws, CommandRow.state, CommandRow.operation, RemedyRow.action)
        .join_from(CommandRow, RemedyRow, CommandRow.remedy_id == RemedyRow.id)
        .where(CommandRow.host == any_of_texts(hosts), CommandRow.state.in_(OPEN_COMMAND), CommandRow.expires_at > at)
        .order_by(CommandRow.issued_at, CommandRow.id)
    )
    return (await session.execute(query)).all()


async def claim(session: WriteSession, command_ids: Sequence[UUID], at: datetime) -> Sequence[tuple[RemedyRow, UUID]]:
    """Mark commands as sent that are still queued; return each with its remedy."""
    query = (
        select(RemedyRow, CommandRow.id)
        .join_from(RemedyRow, CommandRow, CommandRow.remedy_id == RemedyRow.id)
        .where(CommandRow.id == any_of(command_ids), CommandRow.state == CommandState.queued)
        .order_by(RemedyRow.id, CommandRow.id)
        .with_for_update()
    )
    found = [(row[0], row[1]) for row in await session.execute(query)]
    sent = update(CommandRow).where(CommandRow.id == any_of([id for _, id in found])).values(state=CommandState.sent, sent_at=at)
    await session.execute(sent.execution_options(synchronize_session=False))
    return found


async def unanswered_since(session: ReadSession, never_sent: datetime, sent: datetime) -> Sequence[Row[UUID, str]]:
    """Commands that have expired: immediately when they were never sent, after a grace period when they were."""
    query = select(CommandRow.id, CommandRow.host).where(
        ((CommandRow.state == CommandState.queued) & (CommandRow.expires_at <= never_sent))
        | ((CommandRow.state == CommandState.sent) & (CommandRow.expires_at <= sent))
    )
    return (await session.execute(query)).all()


async def pending_since(session: ReadSession, at: datetime) -> Sequence[UUID]:
    """Remedies that have waited for approval since before a time."""
    return (await session.scalars(select(RemedyRow.id).where(RemedyRow.state == RemedyState.pending, RemedyRow.created_at <= at))).all()


async def unsent_applies(session: WriteSession) -> Sequence[RemedyRow]:
    """Approved remedies whose command was not sent yet, locked."""
    query = select(RemedyRow).where(RemedyRow.mode == "apply", RemedyRow.state == RemedyState.approved)
    return (await session.scalars(query.order_by(RemedyRow.id).with_for_update())).all()


async def to_verify(session: ReadSession) -> Sequence[UUID]:
    query = select(RemedyRow.id).where(RemedyRow.state == RemedyState.verifying, RemedyRow.change.is_not(None))
    return (await session.scalars(query)).all()


class SymptomNow(NamedTuple):
    """The symptom of a remedy's incident at the remedy's place."""

    symptom: str
    title: str
    present: bool
    cleared_at: datetime | None


async def symptoms_now(session: ReadSession, remedy_ids: Sequence[UUID]) -> dict[UUID, SymptomNow]:
    """How the symptoms of these remedies' incidents stand now; those without a finding there are left out."""
    symptom = RemedyRow.change["symptom"].astext
    query = (
        select(
            RemedyRow.id,
            symptom,
            func.min(FindingRow.title),
            func.bool_or(FindingRow.cleared_at.is_(None)),
            func.max(FindingRow.cleared_at),
        )
        .join(IncidentRow, IncidentRow.id == RemedyRow.incident_id)
        .join(FindingRow, FindingRow.incident_id == func.coalesce(IncidentRow.merged_into, IncidentRow.id))
        .where(RemedyRow.id == any_of(remedy_ids), FindingRow.host == RemedyRow.host, FindingRow.symptom == symptom)
        .where(RemedyRow.pci.is_(None) | (FindingRow.pci == "") | (FindingRow.pci == RemedyRow.pci))
        .group_by(RemedyRow.id, symptom)
    )
    return {
        row[0]: SymptomNow(row[1], row[2], present=row[3], cleared_at=None if row[3] else row[4]) for row in await session.execute(query)
    }


async def ids_of_incidents(session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
    """Remedies of these incidents, oldest first: (remedy, incident)."""
    query = select(RemedyRow.id, RemedyRow.incident_id).where(RemedyRow.incident_id == any_of(incident_ids)).order_by(RemedyRow.created_at)
    return [(row.id, row.incident_id) for row in await session.execute(query) if row.incident_id is not None]


async def hosts_of(session: ReadSession, remedy_id: UUID) -> set[str]:
    """The host of a remedy; none when there is no such remedy."""
    return set(await session.scalars(select(RemedyRow.host).where(RemedyRow.id == remedy_id)))
