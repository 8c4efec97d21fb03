"""Queries of the wall: rows of `rnic_state`, which `ingest` writes."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import BigInteger, case, cast, func, literal_column, select

from wallwatch.store.tables import rnic_state as s
from wallwatch_backend.kit.database import ReadSession

# Converting 40,000 timestamps and JSON values in Python would take longer than all the rest: PostgreSQL hands over integers and arrays.
_SYMPTOMS = case((s.c.symptoms == literal_column("'{}'::jsonb"), None), else_=literal_column("ARRAY(SELECT jsonb_object_keys(symptoms))"))
_COLUMNS = (
    s.c.host,
    s.c.rack,
    s.c.pci,
    s.c.model,
    s.c.headroom,
    s.c.nearest_wall,
    _SYMPTOMS.label("symptoms"),
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
