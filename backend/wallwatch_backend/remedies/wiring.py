"""Connects what orders and incidents call without knowing it with what implements it."""

from wallwatch_backend.accounts.session import persons
from wallwatch_backend.incidents import remedy_history
from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.kit import reach
from wallwatch_backend.remedies.automation import service as automation
from wallwatch_backend.remedies.automation.runs import ACTOR_PREFIX
from wallwatch_backend.remedies.orders import action_hooks, actions, repository
from wallwatch_backend.remedies.orders.history import OrderHistory
from wallwatch_backend.remedies.plans.hooks import MaskPlanHooks


def connect() -> None:
    """Call it once, before the first order or finding."""
    action_hooks.register(actions.MASK_PLAN, MaskPlanHooks())
    persons.register(ACTOR_PREFIX, automation.people_behind)
    remedy_history.register(OrderHistory())
    reach.register("remedy_id", repository.hosts_of)
    reach.register("incident_id", incidents.hosts_of)
