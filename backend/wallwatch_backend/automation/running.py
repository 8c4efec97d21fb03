"""What a run of a rule is: its steps, and what follows from its plan and its dry run. No query, no order."""

from datetime import datetime
from uuid import UUID

from prometheus_client import Counter

from wallwatch_backend.automation.models import RuleRow, RunRow
from wallwatch_backend.automation.schemas import RunState
from wallwatch_backend.kit.access import Caller, Role
from wallwatch_backend.plans.models import PlanRow
from wallwatch_backend.remedies.models import RemedyRow

RUNS = Counter("wallwatch_automation_runs", "Attempts of the automatic mode that ended", ["action", "state"])
MOST_PLANS = 3
"""Mask plans that one run has made, when flows change faster than a plan is applied, or the limits hold it for too long."""
_MOST_STEPS = 50


def caller_of(rule: RuleRow) -> Caller:
    """Under whose name a rule orders."""
    return Caller(kind="user", id=rule.id, name=f"automation:{rule.name}", role=Role.operator, address=None)


def enter(
    run: RunRow, state: RunState | str, text: str | None, at: datetime, *, plan_id: UUID | None = None, remedy_id: UUID | None = None
) -> None:
    """Bring a run into a state and write down why. What only says the same again is no step."""
    state = RunState(state)
    reason = None if plan_id or remedy_id else text
    if (run.state, run.message) == (state, reason) and reason is not None:
        return
    step = {"at": at.isoformat(), "state": str(state), "text": text or ""}
    links = {name: str(value) for name, value in (("plan_id", plan_id), ("remedy_id", remedy_id)) if value is not None}
    run.state, run.message = state, reason
    run.steps = [*run.steps, {**step, **links}][-_MOST_STEPS:]


def end(run: RunRow, rule: RuleRow, state: RunState, message: str | None, at: datetime) -> None:
    """Bring a run to its end; what was said last stays unless there is something new to say."""
    why = message or {RunState.verified: "Telemetry shows that it worked.", RunState.undone: "It is undone."}.get(state)
    last = run.message
    enter(run, state, why, at)
    run.message = message if message is not None else last if state != RunState.verified else None
    run.ended_at = at
    RUNS.labels(rule.action, str(state)).inc()


def may_plan_again(run: RunRow) -> bool:
    return sum("plan_id" in step for step in run.steps) < MOST_PLANS


def after_plan(plan: PlanRow | None) -> tuple[bool, str | None]:
    """Whether a mask plan can be tried, or why it will not be; neither while it is being made."""
    if plan is None:
        return False, "The mask plan is not known any more."
    if plan.state in ("reading", "planning"):
        return False, None
    if plan.state != "ready" or plan.report is None:
        return False, f"There is no mask plan: {plan.message or plan.state}"
    if plan.operations_sha256 is None:
        return False, "The masks stand as well as they can; nothing is moved."
    if not plan.report["worthwhile"]:
        return False, "A mask plan was made and proven, but would gain less than 5 %; nothing is applied."
    return True, None


def after_dry_run(dry_run: RemedyRow | None) -> tuple[bool, str | None]:
    """Whether what was tried can be applied, or why it will not be; neither while it is under way."""
    if dry_run is None:
        return False, "Dry run: is not known any more"
    if dry_run.state in ("pending", "dispatched"):
        return False, None
    if dry_run.state != "planned":
        return False, f"Dry run: {dry_run.message or dry_run.state}"
    return True, None
