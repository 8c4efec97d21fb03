"""What a plan promised against what telemetry shows."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.plans import repository
from wallwatch_backend.plans import telemetry_repository as telemetry
from wallwatch_backend.plans.models import PlanRow
from wallwatch_backend.plans.schemas import Compared, PlanOutcome
from wallwatch_backend.remedies.models import RemedyRow

MINUTE = timedelta(minutes=1)
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


async def fall_shares(session: ReadSession, remedy: RemedyRow, since: datetime) -> list[tuple[datetime, float]]:
    """Samples of the share of the planned fall that came about. A plan that promised none is judged by 1 while nothing got worse."""
    row = await repository.one(session, UUID(remedy.params["plan"]))
    if row is None or row.report is None:
        return []
    falls = planned_fall(row.report)
    sides = list(falls) or ["egress"]
    began = await telemetry.began(session, remedy.id) or since
    earlier = [value for _, value in await telemetry.queries(session, row.host, row.pci, sides, began - 2 * MINUTE, began)]
    chains = row.report["chains"]
    base = sum(earlier) / len(earlier) if earlier else sum(chains[side]["queries_before"] or 0.0 for side in sides)
    samples = await telemetry.queries(session, row.host, row.pci, sides, since, None)
    if not falls:
        return [(at, 1.0 if value <= base + LEAST_FALL else 0.0) for at, value in samples]
    return [(at, (base - value) / sum(falls.values())) for at, value in samples]


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
    promised = (chains["egress"]["queries_after"], chains["ingress"]["queries_after"], expected["bandwidth_gbps"])
    q_l, q_r, bandwidth = (Compared(before=b, expected=e, measured=m) for b, e, m in zip(before, promised, after, strict=True))
    return PlanOutcome(since=since, until=newest, q_l=q_l, q_r=q_r, bandwidth_gbps=bandwidth)
