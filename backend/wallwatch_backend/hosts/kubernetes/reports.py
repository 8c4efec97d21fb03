"""What NVSentinel said of nodes, kept with its beginning and end: table and queries."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Index, Text, delete, func, or_, select, text, tuple_, update
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At
from wallwatch_backend.kit.database import Base, ReadSession, WriteSession

FRESH = timedelta(minutes=15)
"""A report that was not read again for so long is not shown as present: nodes are listed every five minutes at least."""
_ROWS = 1000
_KEPT_OF_HOST = 500
"""Reports of a host that ended: a check that comes and goes each minute would leave 43,000 in a month."""


class NvsentinelReportRow(Base):
    """One thing that NVSentinel said of a node: a check that found it unhealthy, or that it cordoned the node."""

    __tablename__ = "nvsentinel_report"
    __table_args__ = (
        Index("nvsentinel_report_open", "host", postgresql_where=text("until IS NULL")),
        Index("nvsentinel_report_until", "until"),
    )

    host: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)  # of the check, or cordon
    since: Mapped[At] = mapped_column(primary_key=True)  # as NVSentinel says
    text: Mapped[str]
    devices: Mapped[list[str]] = mapped_column(ARRAY(Text))  # InfiniBand devices and PCI addresses; empty: the node
    until: Mapped[At | None]  # when Wallwatch first did not find it any more
    read_at: Mapped[At]


async def store(session: WriteSession, rows: Sequence[dict[str, object]]) -> None:
    """Insert or renew what is present; each row has every column."""
    for first in range(0, len(rows), _ROWS):
        statement = insert(NvsentinelReportRow).values(rows[first : first + _ROWS])
        changed = {name: statement.excluded[name] for name in ("text", "devices", "until", "read_at")}
        await session.execute(statement.on_conflict_do_update(index_elements=["host", "name", "since"], set_=changed))


async def end_before(session: WriteSession, at: datetime) -> Sequence[NvsentinelReportRow]:
    """End what was last read before `at`; return it."""
    r = NvsentinelReportRow
    return (await session.scalars(update(r).where(r.until.is_(None), r.read_at < at).values(until=at).returning(r))).all()


async def delete_ended(session: WriteSession, before: datetime, ended: Sequence[NvsentinelReportRow]) -> None:
    """Delete what ended long ago, and of hosts where something has just ended all but the newest."""
    r = NvsentinelReportRow
    await session.execute(delete(r).where(r.until < before))
    hosts = {row.host for row in ended}
    if not hosts:
        return
    age = func.row_number().over(partition_by=r.host, order_by=r.until.desc())
    ranked = select(r.host, r.name, r.since, age.label("age")).where(r.host.in_(hosts), r.until.is_not(None)).subquery()
    old = select(ranked.c.host, ranked.c.name, ranked.c.since).where(ranked.c.age > _KEPT_OF_HOST)
    await session.execute(delete(r).where(tuple_(r.host, r.name, r.since).in_(old)).execution_options(synchronize_session=False))


async def ended_on(session: ReadSession, hosts: Collection[str]) -> Sequence[NvsentinelReportRow]:
    """Return what ended on hosts and is still kept, the oldest first."""
    if not hosts:
        return []
    r = NvsentinelReportRow
    return (await session.scalars(select(r).where(r.host.in_(hosts), r.until.is_not(None)).order_by(r.until, r.host, r.name))).all()


async def present(session: ReadSession, host: str, at: datetime) -> Sequence[NvsentinelReportRow]:
    """Return what NVSentinel says of a host now: its cordon first, then what is oldest."""
    r = NvsentinelReportRow
    query = select(r).where(r.host == host, r.until.is_(None), r.read_at > at - FRESH)
    return (await session.scalars(query.order_by(r.name != "cordon", r.since, r.name))).all()


async def begun_or_ended(session: ReadSession, hosts: Collection[str], since: datetime, until: datetime) -> Sequence[NvsentinelReportRow]:
    """Return what began or ended on hosts in an interval."""
    r = NvsentinelReportRow
    query = select(r).where(r.host.in_(hosts), or_(r.since.between(since, until), r.until.between(since, until)))
    newest = (await session.scalars(query.order_by(r.since.desc()).limit(100))).all()
    return newest[::-1]
