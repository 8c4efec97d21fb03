"""A remedy that applies a plan: bound to it when it is ordered, and looked at again when it is sent."""

from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.plans import repository
from wallwatch_backend.plans.errors import PlanEmpty, PlanExpired, PlanNotProven, PlanNotReady, PlanOfAnother, PlanUsed
from wallwatch_backend.plans.models import PlanRow
from wallwatch_backend.remedies import repository as remedies
from wallwatch_backend.remedies.errors import BadParameter
from wallwatch_backend.remedies.models import RemedyRow

NOTHING_DONE = frozenset({"failed", "refused", "expired", "rejected", "undone"})
"""States of a remedy that leave its plan as it was; the agent itself refuses a plan that it has begun."""


async def bound_params(session: WriteSession, host: str, pci: str | None, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with the hash of the plan's operations, or say why the plan is not applied.

    Raises
    ------
    BadParameter
        When `plan` is no plan; what else a plan can lack is in `plans.errors`.
    """
    try:
        plan_id = UUID(str(params.get("plan")))
    except ValueError:
        raise BadParameter("params.plan: must be the id of a mask plan; make one with POST /api/v1/plans") from None
    row = await repository.one_locked(session, plan_id)
    if row is None:
        raise BadParameter(f"params.plan: there is no plan {plan_id}")
    if (row.host, row.pci) != (host, pci):
        raise PlanOfAnother(f"It is of {row.pci} of {row.host}.")
    _check_ready(row, clock.now())
    if row.applied_by is not None:
        earlier = await remedies.one(session, row.applied_by)
        if earlier is not None and earlier.state not in NOTHING_DONE:
            raise PlanUsed(f"By the remedy {earlier.id}, which is {earlier.state}. Make a new plan.")
    if params.get("operations_sha256", row.operations_sha256) != row.operations_sha256:
        raise BadParameter("params.operations_sha256: is not that of the plan; leave it out, the server fills it in")
    return {**params, "plan": str(plan_id), "operations_sha256": row.operations_sha256}


def why_not(row: PlanRow, at: datetime) -> tuple[str, str] | None:
    """Return code and reason why a plan is not offered; None when it is."""
    try:
        _check_ready(row, at)
    except (PlanNotReady, PlanNotProven, PlanEmpty, PlanExpired) as problem:
        return problem.code, problem.detail
    return None


def _check_ready(row: PlanRow, at: datetime) -> None:
    if row.state == "not_proven":
        raise PlanNotProven(row.message)
    if row.state != "ready":
        raise PlanNotReady(row.message or f"It is {row.state}.")
    if row.operations_sha256 is None:
        raise PlanEmpty("The masks stand as well as they can; nothing is moved.")
    if row.expires_at is not None and row.expires_at <= at:
        raise PlanExpired(f"Flows change; it was good until {row.expires_at:%H:%M:%S} UTC. Make a new plan.")


async def ordered(session: WriteSession, remedy: RemedyRow) -> None:
    """Note which remedy applies a plan."""
    row = await repository.one_locked(session, UUID(remedy.params["plan"]))
    if row is not None and remedy.mode == "apply":
        row.applied_by, row.updated_at = remedy.id, clock.now()
        row.progress = row.aftermath = None


async def still_good(session: ReadSession, remedy: RemedyRow) -> None:
    """Raise `PlanExpired` when a plan has become too old before its remedy was sent: it may have waited for approval."""
    row = await repository.one(session, UUID(remedy.params["plan"]))
    if row is None:
        raise PlanExpired("The plan is not there any more.")
    _check_ready(row, clock.now())
