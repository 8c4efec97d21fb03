"""The states of an incident that decide what is sent and how it reads.

Incidents belong to a context above this one, where `incidents.states` has all of their states.
"""

from enum import StrEnum


class NotedState(StrEnum):
    open = "open"
    acknowledged = "acknowledged"
    suppressed = "suppressed"
    resolved = "resolved"
