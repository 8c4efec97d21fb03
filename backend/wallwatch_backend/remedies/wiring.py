"""Connects what orders and incidents call without knowing it with what implements it."""

from wallwatch_backend.incidents import remedy_history
from wallwatch_backend.remedies.automation import service as automation
from wallwatch_backend.remedies.automation.runs import ACTOR_PREFIX
from wallwatch_backend.remedies.orders import action_hooks, actions, requesters
from wallwatch_backend.remedies.orders.history import OrderHistory
from wallwatch_backend.remedies.plans.hooks import MaskPlanHooks


def connect() -> None:
    """Call it once, before the first order or finding."""
    action_hooks.register(actions.MASK_PLAN, MaskPlanHooks())
    requesters.register(ACTOR_PREFIX, automation.people_behind)
    remedy_history.register(OrderHistory())
