"""Queries of the fleet: rows of `rnic_state`, which `ingest` writes, with the cordons."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Select, and_, case, cast, func, literal_column, select

from wallwatch.store.state import RECENT
from wallwatch.store.tables import rnic_state as s
from wallwatch_backend.fleet.overview.schemas import FleetColumns
from wallwatch_backend.fleet.rnics.models import CordonRow
from wallwatch_backend.kit.database import ReadSession

# Converting 40,000 timestamps and JSON values in Python would take longer than all the rest: PostgreSQL returns integers and arrays.
_NONE = s.c.symptoms == literal_column("'{}'::jsonb")
_KEYS = "ARRAY(SELECT key FROM jsonb_each(symptoms) WHERE {})"
_ACTIVE = _KEYS.format("value ->> 'until' IS NULL")
# `ingest` removes what cleared long ago only when it writes the row again.
_CLEARED = _KEYS.format(f"(value ->> 'until')::timestamptz > now() - interval '{RECENT}'")
_COMPUTED = {
    "symptoms": case((_NONE, None), else_=literal_column(_ACTIVE)),
    "recent": case((_NONE, None), else_=literal_column(_CLEARED)),
    "seen_at_ms": cast(func.extract("epoch", s.c.seen_at) * 1000, BigInteger),
    "cordoned": func.coalesce(CordonRow.cordoned, False),
}
NAMES = tuple(FleetColumns.model_fields)
_COLUMNS = [(_COMPUTED[name] if name in _COMPUTED else s.c[name]).label(name) for name in NAMES]


def _select(*more: Any) -> Select[*tuple[Any, ...]]:
    cordon = and_(CordonRow.host == s.c.host, CordonRow.pci == s.c.pci)
    return select(*more, *_COLUMNS).select_from(s.outerjoin(CordonRow, cordon))


async def all_rows(session: ReadSession) -> Sequence[Sequence[Any]]:
    return (await session.execute(_select().order_by(s.c.rack, s.c.host, s.c.pci))).all()


async def rows_after(session: ReadSession, change_seq: int) -> tuple[int, Sequence[Sequence[Any]]]:
    """Rows that changed after `change_seq`, and the number up to which they go."""
    rows = (await session.execute(_select(s.c.change_seq).where(s.c.change_seq > change_seq))).all()
    return max((row[0] for row in rows), default=change_seq), [row[1:] for row in rows]


async def rows_of(session: ReadSession, host: str, pci: str) -> Sequence[Sequence[Any]]:
    return (await session.execute(_select().where(s.c.host == host, s.c.pci == pci))).all()


async def last_change(session: ReadSession) -> int:
    return int((await session.execute(select(func.coalesce(func.max(s.c.change_seq), 0)))).scalar_one())


class Marks(NamedTuple):
    """What tells one state of the fleet from another."""

    change_seq: int
    """Number of the last change that `ingest` wrote."""
    cordoned: int
    cordon_changed_at: datetime | None


async def marks(session: ReadSession) -> Marks:
    last = select(func.coalesce(func.max(s.c.change_seq), 0)).scalar_subquery()
    return Marks(*(await session.execute(select(last, func.count().filter(CordonRow.cordoned), func.max(CordonRow.changed_at)))).one())
