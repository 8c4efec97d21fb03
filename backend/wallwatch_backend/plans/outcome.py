"""What a plan promised against what telemetry shows."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from wallwatch.store.tables import offload_sample, rnic, rnic_sample
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.plans import repository
from wallwatch_backend.plans.models import PlanRow
from wallwatch_backend.plans.schemas import Compared, PlanOutcome
from wallwatch_backend.remedies.models import CommandRow, RemedyRow

MINUTE = timedelta(minutes=1)
SIDES = {"egress": offload_sample.c.q_egress, "ingress": offload_sample.c.q_ingress}
LEAST_FALL = 0.05
"""Mean queries; a smaller fall cannot be told from the traffic's own changes."""


def planned_fall(report: dict[str, Any]) -> dict[str, float]:
    """Return the fall of mean queries that a plan promises, for each side where it promises one.

    >>> chain = {"queries_before": 9.0, "queries_after": 2.0}
    >>> planned_fall({"chains": {"egress": chain, "ingress": {"queries_before": None, "queries_after": None}}})
    {'egress': 7.0}
    """
    falls = {}
    for side, chain in report["chains"].items():
        before, after = chain["queries_before"], chain["queries_after"]
        if before is not None and after is not None and before - after >= LEAST_FALL:
            falls[side] = before - after
    return falls


async def _queries(
    session: ReadSession, host: str, pci: str, sides: Sequence[str], since: datetime, until: datetime | None
) -> list[tuple[datetime, float]]:
    """Samples of the sum of mean queries over the sides, where all of them were measured."""
    columns = [SIDES[side] for side in sides]
    total = columns[0] if len(columns) == 1 else columns[0] + columns[1]
    query = (
        select(offload_sample.c.time, total)
        .join(rnic, rnic.c.rnic_id == offload_sample.c.rnic_id)
        .where(rnic.c.host == host, rnic.c.pci == pci, offload_sample.c.time > since, total.is_not(None))
        .order_by(offload_sample.c.time)
    )
    if until is not None:
        query = query.where(offload_sample.c.time <= until)
    return [(row[0], float(row[1])) for row in await session.execute(query)]


async def _began(session: ReadSession, remedy_id: UUID) -> datetime | None:
    query = select(func.min(CommandRow.issued_at)).where(CommandRow.remedy_id == remedy_id, CommandRow.operation == "apply")
    return (await session.execute(query)).scalar_one()


async def fall_shares(session: ReadSession, remedy: RemedyRow, since: datetime) -> list[tuple[datetime, float]]:
    """Samples of the share of the planned fall that came about. A plan that promised none is judged by 1 while nothing got worse."""
    row = await repository.one(session, UUID(remedy.params["plan"]))
    if row is None or row.report is None:
        return []
    falls = planned_fall(row.report)
    sides = list(falls) or ["egress"]
    began = await _began(session, remedy.id) or since
    earlier = [value for _, value in await _queries(session, row.host, row.pci, sides, began - 2 * MINUTE, began)]
    chains = row.report["chains"]
    base = sum(earlier) / len(earlier) if earlier else sum(chains[side]["queries_before"] or 0.0 for side in sides)
    samples = await _queries(session, row.host, row.pci, sides, since, None)
    if not falls:
        return [(at, 1.0 if value <= base + LEAST_FALL else 0.0) for at, value in samples]
    return [(at, (base - value) / sum(falls.values())) for at, value in samples]


async def outcome(session: ReadSession, row: PlanRow, remedy: RemedyRow | None) -> PlanOutcome | None:
    """Compare a plan that was applied with what was measured in the minute before and in the newest minute since."""
    if remedy is None or remedy.applied_at is None or row.report is None:
        return None
    since = remedy.applied_at
    began = await _began(session, remedy.id) or since
    before = await _means(session, row, began - MINUTE, began)
    newest = await _newest(session, row, since)
    after = await _means(session, row, max(since, newest - MINUTE), newest) if newest is not None else (None, None, None)
    chains, expected = row.report["chains"], row.report["expected"]["after"]
    promised = (chains["egress"]["queries_after"], chains["ingress"]["queries_after"], expected["bandwidth_gbps"])
    q_l, q_r, bandwidth = (Compared(before=b, expected=e, measured=m) for b, e, m in zip(before, promised, after, strict=True))
    return PlanOutcome(since=since, until=newest, q_l=q_l, q_r=q_r, bandwidth_gbps=bandwidth)


async def _newest(session: ReadSession, row: PlanRow, since: datetime) -> datetime | None:
    query = (
        select(func.max(offload_sample.c.time))
        .join(rnic, rnic.c.rnic_id == offload_sample.c.rnic_id)
        .where(rnic.c.host == row.host, rnic.c.pci == row.pci, offload_sample.c.time > since)
    )
    newest: datetime | None = (await session.execute(query)).scalar_one()
    return newest


async def _means(session: ReadSession, row: PlanRow, since: datetime, until: datetime) -> tuple[float | None, float | None, float | None]:
    found: list[float | None] = []
    for table, columns in ((offload_sample, tuple(SIDES.values())), (rnic_sample, (rnic_sample.c.tx_gbps,))):
        query = (
            select(*(func.avg(column) for column in columns))
            .join(rnic, rnic.c.rnic_id == table.c.rnic_id)
            .where(rnic.c.host == row.host, rnic.c.pci == row.pci, table.c.time > since, table.c.time <= until)
        )
        found += [None if value is None else float(value) for value in (await session.execute(query)).one()]
    return found[0], found[1], found[2]
