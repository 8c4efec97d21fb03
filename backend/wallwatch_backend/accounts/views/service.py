"""Saved views of the incident list."""

from uuid import UUID

from sqlalchemy import text

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.views import repository
from wallwatch_backend.accounts.views.models import ViewRow
from wallwatch_backend.accounts.views.schemas import NewView, View, ViewChange
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.problems import NotFound, WallwatchError

MOST = 200
"""Most views of one caller."""


class NameTaken(WallwatchError):
    status, code, title = 409, "name_taken", "You have a view of this name"


class TooMany(WallwatchError):
    status, code, title = 409, "too_many_views", "You have too many views"


def _presented(row: ViewRow, caller: Caller) -> View:
    fields = {name: getattr(row, name) for name in ("id", "name", "query", "shared", "owner", "created_at", "updated_at")}
    return View(**fields, mine=row.owner == caller.actor)


async def list_views(session: ReadSession, caller: Caller) -> list[View]:
    return [_presented(row, caller) for row in await repository.seen_by(session, caller.actor)]


async def _lock(session: WriteSession, caller: Caller) -> None:
    """Allow one change of a caller's views at a time, so that a name that is taken gets a clear error."""
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 7241005))"), {"key": caller.actor})


async def create(session: WriteSession, caller: Caller, body: NewView) -> View:
    await _lock(session, caller)
    if await repository.named(session, caller.actor, body.name) is not None:
        raise NameTaken(f"Choose another name than {body.name!r}, or change that view.")
    if await repository.count(session, caller.actor) >= MOST:
        raise TooMany(f"Remove one first; {MOST} are kept.")
    row = ViewRow(owner=caller.actor, name=body.name, query=body.query, shared=body.shared, updated_at=clock.now())
    await repository.add(session, row)
    audit.record(session, caller.actor, "view.create", body.name, address=caller.address, view_id=str(row.id), shared=body.shared)
    return _presented(row, caller)


async def _own(session: WriteSession, caller: Caller, view_id: UUID) -> ViewRow:
    row = await repository.of_owner(session, caller.actor, view_id)
    if row is None:
        raise NotFound(f"You have no view {view_id}; those of others cannot be changed.")
    return row


async def update(session: WriteSession, caller: Caller, view_id: UUID, change: ViewChange) -> View:
    await _lock(session, caller)
    row = await _own(session, caller, view_id)
    if change.name is not None and change.name != row.name:
        if await repository.named(session, caller.actor, change.name) is not None:
            raise NameTaken(f"Choose another name than {change.name!r}.")
        row.name = change.name
    row.query = change.query if change.query is not None else row.query
    row.shared = change.shared if change.shared is not None else row.shared
    row.updated_at = clock.now()
    changed = change.model_dump(mode="json", exclude_none=True)
    audit.record(session, caller.actor, "view.update", row.name, address=caller.address, view_id=str(row.id), changed=changed)
    await session.flush()
    return _presented(row, caller)


async def delete(session: WriteSession, caller: Caller, view_id: UUID) -> None:
    row = await _own(session, caller, view_id)
    await session.delete(row)
    audit.record(session, caller.actor, "view.delete", row.name, address=caller.address, view_id=str(view_id))
