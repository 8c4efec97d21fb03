"""Compares what a plan predicted with what telemetry shows."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.plans import repository
from wallwatch_backend.remedies.plans import telemetry_repository as telemetry
from wallwatch_backend.remedies.plans.models import PlanRow
from wallwatch_backend.remedies.plans.schemas import Compared, PlanOutcome

MINUTE = timedelta(minutes=1)
LEAST_REDUCTION = 0.05
"""Mean queries; a smaller reduction cannot be distinguished from changes of the traffic."""


def planned_reduction(report: dict[str, Any]) -> dict[str, float]:
    """Return the reduction of mean queries that a plan predicts, for each side where it predicts one.

    >>> chain = {"queries_before": 9.0, "queries_after": 2.0}
    >>> planned_reduction({"chains": {"egress": chain, "ingress": {"queries_before": None, "queries_after": None}}})
    {'egress': 7.0}
    """
    reductions = {}
    for side, chain in report["chains"].items():
        before, after = chain["queries_before"], chain["queries_after"]
        if before is not None and after is not None and before - after >= LEAST_REDUCTION:
            reductions[side] = before - after
    return reductions


async def reduction_shares(session: ReadSession, remedy: RemedyRow, since: datetime) -> list[tuple[datetime, float]]:
    """Samples of the share of the predicted reduction that was reached. A plan that predicts none has 1 while nothing got worse."""
    row = await repository.one(session, UUID(remedy.params["plan"]))
    if row is None or row.report is None:
        return []
    reductions = planned_reduction(row.report)
    sides = list(reductions) or ["egress"]
    began = await telemetry.began(session, remedy.id) or since
    earlier = [value for _, value in await telemetry.queries(session, row.host, row.pci, sides, began - 2 * MINUTE, began)]
    chains = row.report["chains"]
    base = sum(earlier) / len(earlier) if earlier else sum(chains[side]["queries_before"] or 0.0 for side in sides)
    samples = await telemetry.queries(session, row.host, row.pci, sides, since, None)
    if not reductions:
        return [(at, 1.0 if value <= base + LEAST_REDUCTION else 0.0) for at, value in samples]
    return [(at, (base - value) / sum(reductions.values())) for at, value in samples]


async def outcome(session: ReadSession, row: PlanRow, remedy: RemedyRow | None) -> PlanOutcome | None:
    """Compare a plan that was applied with what was measured in the minute before and in the newest minute since."""
    if remedy is None or remedy.applied_at is None or row.report is None:
        return None
    since = remedy.applied_at
    began = await telemetry.began(session, remedy.id) or since
    before = await telemetry.means(session, row, began - MINUTE, began)
    newest = await telemetry.newest(session, row, since)
    after = await telemetry.means(session, row, max(since, newest - MINUTE), newest) if newest is not None else (None, None, None)
    chains, expected = row.report["chains"], row.report["expected"]["after"]
    expected_after = (chains["egress"]["queries_after"], chains["ingress"]["queries_after"], expected["bandwidth_gbps"])
    q_l, q_r, bandwidth = (Compared(before=b, expected=e, measured=m) for b, e, m in zip(before, expected_after, after, strict=True))
    return PlanOutcome(since=since, until=newest, q_l=q_l, q_r=q_r, bandwidth_gbps=bandwidth)
