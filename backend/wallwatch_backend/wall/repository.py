"""Queries of the wall: rows of `rnic_state`, which `ingest` writes."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, case, cast, func, literal_column, select

from wallwatch.store.tables import rnic_state as s
from wallwatch_backend.kit.database import ReadSession

RECENT_MIN = 30
"""A symptom that ended this many minutes ago is still shown, as over."""

# Converting 40,000 timestamps and JSON values in Python would take longer than all the rest: PostgreSQL hands over integers and arrays.
_NONE = s.c.symptoms == literal_column("'{}'::jsonb")
_KEYS = "ARRAY(SELECT key FROM jsonb_each(symptoms) WHERE {})"
_ACTIVE = _KEYS.format("value ->> 'until' IS NULL")
# Whoever writes the table forgets what ended long ago only when it writes the row again.
_ENDED = _KEYS.format(f"(value ->> 'until')::timestamptz > now() - interval '{RECENT_MIN} minutes'")
_SYMPTOMS = case((_NONE, None), else_=literal_column(_ACTIVE))
_RECENT = case((_NONE, None), else_=literal_column(_ENDED))
_COLUMNS = (
    s.c.host,
    s.c.rack,
    s.c.pci,
    s.c.model,
    s.c.headroom,
    s.c.nearest_wall,
    _SYMPTOMS.label("symptoms"),
    _RECENT.label("recent"),
    cast(func.extract("epoch", s.c.seen_at) * 1000, BigInteger).label("seen_at_ms"),
    s.c.tx_gbps,
    s.c.rx_gbps,
)
NAMES = [str(c.key) for c in _COLUMNS]  # plain text: SQLAlchemy's own kind of name is no key that orjson takes


async def all_rows(session: ReadSession) -> Sequence[Sequence[Any]]:
    return (await session.execute(select(*_COLUMNS).order_by(s.c.rack, s.c.host, s.c.pci))).all()


async def rows_after(session: ReadSession, change_seq: int) -> tuple[int, Sequence[Sequence[Any]]]:
    """Rows that changed after `change_seq`, and the number up to which they go."""
    rows = (await session.execute(select(s.c.change_seq, *_COLUMNS).where(s.c.change_seq > change_seq))).all()
    return max((row[0] for row in rows), default=change_seq), [row[1:] for row in rows]


async def rows_of(session: ReadSession, host: str, pci: str) -> Sequence[Sequence[Any]]:
    return (await session.execute(select(*_COLUMNS).where(s.c.host == host, s.c.pci == pci))).all()


async def last_change(session: ReadSession) -> int:
    return int((await session.execute(select(func.coalesce(func.max(s.c.change_seq), 0)))).scalar_one())
