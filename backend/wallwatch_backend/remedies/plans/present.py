"""Turns rows of plans into what the API shows."""

from typing import Any

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import repository as remedies
from wallwatch_backend.remedies.plans import binding, outcome, repository
from wallwatch_backend.remedies.plans.models import PlanRow
from wallwatch_backend.remedies.plans.schemas import Plan, PlanSummary
from wallwatch_backend.remedies.plans.states import OPEN, PlanState

_FIELDS = (
    "id", "host", "pci", "model", "state", "trigger", "then", "requested_by", "incident_id", "created_at", "updated_at", "flows_at",
    "expires_at", "applied_by",
)  # fmt: skip


def _summary(row: PlanRow, applied: RemedyRow | None) -> dict[str, Any]:
    used = applied is not None and applied.state not in binding.UNUSED_BY
    why = binding.why_not(row, clock.now())
    if why is None and used:
        why = "plan_used", "It was already applied."
    if row.state in OPEN:
        why = None  # it is not ready yet, but nothing is wrong with it
    report = row.report or {}
    expected = report.get("expected", {})
    return {
        **{name: getattr(row, name) for name in _FIELDS},
        "offered": row.state == PlanState.ready and why is None,
        "worthwhile": bool(report.get("worthwhile")) and row.operations_sha256 is not None,
        "code": row.code or (why[0] if why else None),
        "message": row.message or (why[1] if why else None),
        "bandwidth_gain": expected.get("bandwidth_gain"),
        "latency_gain": expected.get("latency_gain"),
    }


async def summary(session: ReadSession, row: PlanRow) -> PlanSummary:
    applied = await remedies.one(session, row.applied_by) if row.applied_by is not None else None
    return PlanSummary.model_validate(_summary(row, applied))


async def whole(session: ReadSession, row: PlanRow) -> Plan:
    applied = await remedies.one(session, row.applied_by) if row.applied_by is not None else None
    return Plan.model_validate(
        {
            **_summary(row, applied),
            "ports": row.ports,
            "flows_sha256": row.flows_sha256,
            "operations_sha256": row.operations_sha256,
            "report": row.report,
            "remedies": list(await repository.remedies_of(session, row.id)),
            "progress": row.progress,
            "check": {"at": row.updated_at, "message": "", **row.aftermath} if row.aftermath else None,
            "outcome": await outcome.outcome(session, row, applied),
        }
    )
