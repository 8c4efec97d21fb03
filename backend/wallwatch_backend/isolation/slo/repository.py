"""Queries of SLO classes and rules, and of the VFs that they concern."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, text

from wallwatch_backend.isolation.slo.models import SloClassRow, SloRuleRow, SloRuleVersionRow
from wallwatch_backend.kit.database import ReadSession, WriteSession

_LOCK = 7_241_031
"""Advisory lock of a transaction: one change of classes or rules at a time, so that the check of the minima sees all others."""

_VFS = text("""
    SELECT n.host, n.pci, n.rack, n.model, n.port_mbps, v.vf, v.pod, v.slo FROM (
      SELECT r.host, r.pci, r.rack, r.model, i.port_mbps, i.vfs FROM rnic r JOIN rnic_isolation i USING (rnic_id)
      WHERE (r.host, r.pci) > (:host, :pci) ORDER BY r.host, r.pci LIMIT :limit
    ) n LEFT JOIN LATERAL jsonb_to_recordset(n.vfs) AS v (vf int, pod text, slo jsonb) ON true
    ORDER BY n.host, n.pci, v.vf
""")
_BATCH_RNICS = 1_000


async def lock(session: WriteSession) -> None:
    """Wait until no other transaction changes classes or rules."""
    await session.execute(select(func.pg_advisory_xact_lock(_LOCK)))


async def classes(session: ReadSession) -> Sequence[SloClassRow]:
    return (await session.scalars(select(SloClassRow).order_by(SloClassRow.name))).all()


async def get_class(session: ReadSession, name: str) -> SloClassRow | None:
    return await session.get(SloClassRow, name, populate_existing=True)


async def uses(session: ReadSession) -> dict[str, int]:
    """Number of rules that assign each class."""
    query = select(SloRuleRow.slo_class, func.count()).group_by(SloRuleRow.slo_class)
    return {row[0]: row[1] for row in await session.execute(query)}


async def add(session: WriteSession, row: SloClassRow) -> None:
    session.add(row)
    await session.flush()


async def remove(session: WriteSession, row: SloClassRow) -> None:
    await session.delete(row)
    await session.flush()


async def rules(session: ReadSession) -> Sequence[SloRuleRow]:
    return (await session.scalars(select(SloRuleRow).order_by(SloRuleRow.position))).all()


async def version(session: ReadSession) -> SloRuleVersionRow | None:
    return await session.get(SloRuleVersionRow, 1, populate_existing=True)


async def replace(session: WriteSession, rows: Sequence[dict[str, Any]]) -> None:
    await session.execute(delete(SloRuleRow))
    if rows:
        await session.execute(insert(SloRuleRow), list(rows))


async def vfs(session: ReadSession) -> AsyncIterator[Sequence[Row[Any]]]:
    """Every VF in the newest state of its RNIC, with the promise that it has, by host, PCI address and number; some thousands at a time."""
    host = pci = ""
    while True:
        rows = (await session.execute(_VFS, {"host": host, "pci": pci, "limit": _BATCH_RNICS})).all()
        if not rows:
            return
        yield [row for row in rows if row.vf is not None]  # an RNIC without VFs has one row
        host, pci = rows[-1].host, rows[-1].pci
