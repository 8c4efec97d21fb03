"""States of a delivery, and the states of an incident that decide what is sent and how it reads."""

from enum import StrEnum


class DeliveryState(StrEnum):
    pending = "pending"
    delivered = "delivered"
    failed = "failed"


class NotedState(StrEnum):
    """Incidents belong to a context above this one, where `incidents.states` has all of their states."""

    open = "open"
    acknowledged = "acknowledged"
    suppressed = "suppressed"
    resolved = "resolved"
