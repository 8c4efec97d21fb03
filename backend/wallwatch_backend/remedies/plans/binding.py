"""Binds a remedy to the plan that it applies: when it is requested, and again when its command is signed."""

from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import repository as remedies
from wallwatch_backend.remedies.orders.errors import BadParameter
from wallwatch_backend.remedies.plans import repository
from wallwatch_backend.remedies.plans.errors import PlanEmpty, PlanExpired, PlanNotProven, PlanNotReady, PlanOfAnother, PlanUsed
from wallwatch_backend.remedies.plans.models import PlanRow
from wallwatch_backend.remedies.plans.states import PLAN, PlanState
from wallwatch_backend.remedies.states import REMEDY

UNUSED_BY = REMEDY.where(lambda state: state.over and state.on_host != "changed")
"""States of a remedy whose plan may be applied again; the agent itself refuses a plan that it has started."""


async def bound_params(session: WriteSession, host: str, pci: str | None, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with the hash of the plan's operations, or raise why the plan cannot be applied.

    Raises
    ------
    BadParameter
        When `plan` names no plan; other reasons are in `plans.errors`.
    """
    try:
        plan_id = UUID(str(params.get("plan")))
    except ValueError:
        raise BadParameter("params.plan: must be the id of a mask plan; create one with POST /api/v1/plans") from None
    row = await repository.one_locked(session, plan_id)
    if row is None:
        raise BadParameter(f"params.plan: there is no plan {plan_id}")
    if (row.host, row.pci) != (host, pci):
        raise PlanOfAnother(f"It is for {row.pci} of {row.host}.")
    _check_ready(row, clock.now())
    if row.applied_by is not None:
        earlier = await remedies.one(session, row.applied_by)
        if earlier is not None and earlier.state not in UNUSED_BY:
            raise PlanUsed(f"The remedy {earlier.id} uses it and {REMEDY[earlier.state].sentence}. Create a new plan.")
    if params.get("operations_sha256", row.operations_sha256) != row.operations_sha256:
        raise BadParameter("params.operations_sha256: does not match the plan; omit it, the server fills it in")
    return {**params, "plan": str(plan_id), "operations_sha256": row.operations_sha256}


def why_not(row: PlanRow, at: datetime) -> tuple[str, str] | None:
    """Return code and reason why a plan is not offered; None when it is."""
    try:
        _check_ready(row, at)
    except (PlanNotReady, PlanNotProven, PlanEmpty, PlanExpired) as problem:
        return problem.code, problem.detail
    return None


def _check_ready(row: PlanRow, at: datetime) -> None:
    if row.state == PlanState.not_proven:
        raise PlanNotProven(row.message)
    if row.state != PlanState.ready:
        raise PlanNotReady(row.message or f"The plan {PLAN[row.state].sentence}.")
    if row.operations_sha256 is None:
        raise PlanEmpty("The masks are already in the best order; nothing moves.")
    if row.expires_at is not None and row.expires_at <= at:
        raise PlanExpired(f"Flows change; it was valid until {row.expires_at:%H:%M:%S} UTC. Create a new plan.")


async def note_order(session: WriteSession, remedy: RemedyRow) -> None:
    """Note which remedy applies a plan."""
    row = await repository.one_locked(session, UUID(remedy.params["plan"]))
    if row is not None and remedy.mode == "apply":
        row.applied_by, row.updated_at = remedy.id, clock.now()
        row.progress = row.aftermath = None


async def check_still_valid(session: ReadSession, remedy: RemedyRow) -> None:
    """Raise `PlanExpired` when a plan has expired before its remedy was sent: it may have waited for approval."""
    row = await repository.one(session, UUID(remedy.params["plan"]))
    if row is None:
        raise PlanExpired("The plan no longer exists.")
    _check_ready(row, clock.now())
