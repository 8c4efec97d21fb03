"""Silences and maintenance windows: people create, change and end them; the audit log has each step."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.incidents.silences import enforcement, repository
from wallwatch_backend.incidents.silences.errors import BadInterval, Expired
from wallwatch_backend.incidents.silences.models import SilenceRow
from wallwatch_backend.incidents.silences.schemas import (
    NewSilence,
    Preview,
    PreviewedIncident,
    PreviewRequest,
    Silence,
    SilenceChange,
    SilenceState,
)
from wallwatch_backend.kit import clock, etags
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.matchers import matches
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound

_SAMPLE = 20
_OF_RNIC = ("host", "rack", "pci", "model", "fw_ver")


def state_of(row: SilenceRow, at: datetime) -> SilenceState:
    if row.starts_at > at:
        return SilenceState.pending
    return SilenceState.active if row.ends_at > at else SilenceState.expired


async def _silences_of(session: ReadSession, rows: Sequence[SilenceRow]) -> list[Silence]:
    at = clock.now()
    counts = await repository.suppressed_counts(session, [row.id for row in rows])
    names = [name for name in Silence.model_fields if name not in ("state", "incidents")]
    return [
        Silence.model_validate(
            {**{name: getattr(row, name) for name in names}, "state": state_of(row, at), "incidents": counts.get(row.id, 0)}
        )
        for row in rows
    ]


async def list_silences(session: ReadSession, states: Sequence[SilenceState] | None, limit: int, cursor: str | None) -> Page[Silence]:
    rows = await repository.page(session, states, clock.now(), time_and_id(cursor), limit + 1)
    items = await _silences_of(session, rows[:limit])
    return Page(items=items, next_cursor=encode_cursor(items[-1].ends_at, str(items[-1].id)) if len(rows) > limit else None)


async def get(session: ReadSession, silence_id: UUID) -> Silence:
    return (await _silences_of(session, [_require(await repository.get(session, silence_id), silence_id)]))[0]


def _require(row: SilenceRow | None, silence_id: UUID) -> SilenceRow:
    if row is None:
        raise NotFound(f"There is no silence {silence_id}.")
    return row


def _record(session: WriteSession, caller: Caller, action: str, row: SilenceRow, **detail: Any) -> None:
    audit.record(session, caller.actor, f"silence.{action}", row.reason[:200], address=caller.address, silence_id=str(row.id), **detail)


async def create(session: WriteSession, caller: Caller, body: NewSilence) -> Silence:
    at = clock.now()
    starts_at = body.starts_at or at
    if body.ends_at <= max(starts_at, at):
        raise BadInterval
    row = SilenceRow(
        kind=body.kind,
        matchers=[matcher.model_dump() for matcher in body.matchers],
        starts_at=starts_at,
        ends_at=body.ends_at,
        reason=body.reason,
        created_by=caller.actor,
        updated_by=caller.actor,
        updated_at=at,
    )
    await repository.add(session, row)
    _record(session, caller, "create", row, **body.model_dump(mode="json", exclude={"reason"}))
    if starts_at <= at:
        await enforcement.apply_to_all(session, at)
    return (await _silences_of(session, [row]))[0]


async def update(session: WriteSession, caller: Caller, silence_id: UUID, change: SilenceChange, if_match: str | None) -> Silence:
    row = _require(await repository.get_locked(session, silence_id), silence_id)
    etags.check(if_match, row.version)
    at = clock.now()
    before = state_of(row, at)
    if before is SilenceState.expired:
        raise Expired("Create a new silence; an expired one cannot be changed.")
    if change.starts_at is not None:
        row.starts_at = change.starts_at
    if change.ends_at is not None:
        row.ends_at = max(change.ends_at, at)
    if row.ends_at <= row.starts_at:
        raise BadInterval
    if change.matchers is not None:
        row.matchers = [matcher.model_dump() for matcher in change.matchers]
    row.reason = change.reason or row.reason
    row.updated_by, row.updated_at, row.version = caller.actor, at, row.version + 1
    _record(session, caller, "update", row, changed=change.model_dump(mode="json", exclude_none=True))
    if SilenceState.active in (before, state_of(row, at)):
        await enforcement.apply_to_all(session, at)
    await session.flush()
    return (await _silences_of(session, [row]))[0]


async def expire(session: WriteSession, caller: Caller, silence_id: UUID, if_match: str | None) -> None:
    row = _require(await repository.get_locked(session, silence_id), silence_id)
    etags.check(if_match, row.version)
    at = clock.now()
    state = state_of(row, at)
    if state is SilenceState.expired:
        return
    _record(session, caller, "expire", row)
    if state is SilenceState.pending:
        await repository.remove(session, row)
        return
    row.ends_at, row.updated_by, row.updated_at, row.version = at, caller.actor, at, row.version + 1
    await enforcement.apply_to_all(session, at)


async def preview(session: ReadSession, body: PreviewRequest) -> Preview:
    ids = await enforcement.matched_incidents(session, body.matchers)
    sample = [row for id in ids[:_SAMPLE] if (row := await incidents.get(session, id)) is not None]
    of_rnic = [matcher for matcher in body.matchers if matcher.name in _OF_RNIC]
    matched = [
        row
        for row in await repository.rnics(session)
        if matches(of_rnic, {name: (value,) for name in _OF_RNIC if (value := getattr(row, name))})
    ]
    return Preview(
        incidents=len(ids),
        rnics=len(matched),
        hosts=len({row.host for row in matched}),
        sample=[PreviewedIncident(id=row.id, title=row.title, host=row.host, pci=row.pci) for row in sample],
    )
