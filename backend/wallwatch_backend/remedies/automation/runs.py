"""Steps of a run, and what follows from its plan and its dry run. No queries."""

from datetime import datetime
from uuid import UUID

from prometheus_client import Counter

from wallwatch_backend.kit.access import Caller, Role
from wallwatch_backend.remedies.automation.models import RuleRow, RunRow
from wallwatch_backend.remedies.automation.states import RunState
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.plans.models import PlanRow
from wallwatch_backend.remedies.plans.states import OPEN, PLAN, PlanState
from wallwatch_backend.remedies.states import REMEDY, RemedyState

RUNS = Counter("wallwatch_automation_runs", "Runs of automation rules that ended", ["action", "state"])
ACTOR_PREFIX = "automation:"
MOST_PLANS = 3
"""Mask plans per run: flows may change faster than a plan is applied, or the limits may delay it for too long."""
_MOST_STEPS = 50
_SUCCEEDED = (RunState.change_confirmed, RunState.confirmed)
_ENDS = {
    RunState.change_confirmed: "The host has the change; no signal shows its effect.",
    RunState.confirmed: "The signal that the remedy had to change confirms it.",
    RunState.undone: "It is undone.",
}


def caller_of(rule: RuleRow) -> Caller:
    """The caller in whose name a rule requests remedies."""
    return Caller(kind="user", id=rule.id, name=f"{ACTOR_PREFIX}{rule.name}", role=Role.operator, address=None)


def enter(
    run: RunRow, state: RunState | str, text: str | None, at: datetime, *, plan_id: UUID | None = None, remedy_id: UUID | None = None
) -> None:
    """Bring a run into a state and record why. A repetition adds no step."""
    state = RunState(state)
    reason = None if plan_id or remedy_id else text
    if (run.state, run.message) == (state, reason) and reason is not None:
        return
    step = {"at": at.isoformat(), "state": str(state), "text": text or ""}
    links = {name: str(value) for name, value in (("plan_id", plan_id), ("remedy_id", remedy_id)) if value is not None}
    run.state, run.message = state, reason
    run.steps = [*run.steps, {**step, **links}][-_MOST_STEPS:]


def end(run: RunRow, rule: RuleRow, state: RunState, message: str | None, at: datetime) -> None:
    """End a run; its last message stays unless there is a new one."""
    why = message or _ENDS.get(state)
    last = run.message
    enter(run, state, why, at)
    run.message = message if message is not None else None if state in _SUCCEEDED else last
    run.ended_at = at
    RUNS.labels(rule.action, str(state)).inc()


def may_plan_again(run: RunRow) -> bool:
    return sum("plan_id" in step for step in run.steps) < MOST_PLANS


def after_plan(plan: PlanRow | None) -> tuple[bool, str | None]:
    """Whether a mask plan can be tried, or why it will not be; neither while it is being computed."""
    if plan is None:
        return False, "The mask plan no longer exists."
    if plan.state in OPEN:
        return False, None
    if plan.state != PlanState.ready or plan.report is None:
        return False, f"There is no mask plan: {plan.message or PLAN[plan.state].sentence}"
    if plan.operations_sha256 is None:
        return False, "The masks are already in the best order; nothing moves."
    if not plan.report["worthwhile"]:
        return False, "A mask plan was created and proven, but would gain less than 5%; nothing is applied."
    return True, None


def after_dry_run(dry_run: RemedyRow | None) -> tuple[bool, str | None]:
    """Whether what was tried can be applied, or why it will not be; neither while it is under way."""
    if dry_run is None:
        return False, "The dry run no longer exists."
    if not REMEDY[dry_run.state].over:
        return False, None
    if dry_run.state != RemedyState.planned:
        return False, f"Dry run: {dry_run.message or REMEDY[dry_run.state].sentence}"
    return True, None
