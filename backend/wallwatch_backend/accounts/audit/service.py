"""Writes the audit log: in the transaction of the recorded change or, for refusals, in a separate one."""

from datetime import datetime
from typing import Any, Literal

from wallwatch_backend.accounts.audit import repository
from wallwatch_backend.accounts.audit.chain import GENESIS
from wallwatch_backend.accounts.audit.schemas import AuditEvent, AuditHead
from wallwatch_backend.kit.database import Database, ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, decode_cursor, encode_cursor

Outcome = Literal["ok", "refused", "failed"]


def record(
    session: WriteSession, actor: str, action: str, target: str, *, outcome: Outcome = "ok", address: str | None = None, **detail: Any
) -> None:
    """Add a row that is committed together with the recorded change. Never pass a secret as detail."""
    repository.add(session, actor=actor, action=action, target=target, outcome=outcome, address=address, detail=detail)


async def record_apart(
    database: Database, actor: str, action: str, target: str, *, outcome: Outcome, address: str | None = None, **detail: Any
) -> None:
    """Add a row in a separate transaction: the recorded request is refused, which rolls back its own."""
    async with database.write() as session:
        record(session, actor, action, target, outcome=outcome, address=address, **detail)


async def list_events(
    session: ReadSession,
    *,
    actor: str | None,
    action: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    cursor: str | None,
) -> Page[AuditEvent]:
    before = decode_cursor(cursor, int)[0] if cursor is not None else None
    rows = await repository.page(
        session,
        actor=actor,
        action=action,
        since=since,
        until=until,
        before_id=before if isinstance(before, int) else None,
        limit=limit + 1,
    )
    items = [AuditEvent.model_validate(row, from_attributes=True) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].id) if len(rows) > limit else None)


async def head(session: ReadSession) -> AuditHead:
    """Return the end of the chain. Kept outside this database, `wallwatch audit verify --anchor` detects a log that was cut off."""
    link = await repository.head(session)
    return AuditHead(seq=link.seq, hash=link.hash.hex()) if link is not None else AuditHead(seq=0, hash=GENESIS.hex())
