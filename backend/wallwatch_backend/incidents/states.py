"""States of an incident."""

from enum import StrEnum

from pydantic import Field

from wallwatch_backend.kit.states import State, StateTable


class IncidentState(StrEnum):
    """All but `resolved` are unresolved."""

    open = "open"
    acknowledged = "acknowledged"
    suppressed = "suppressed"
    reopened = "reopened"
    resolved = "resolved"


class IncidentStateInfo(State):
    untaken: bool = Field(default=False, description="Nobody has acknowledged it, and no silence or remedy suppresses it")


_S = IncidentState

INCIDENT = StateTable(
    IncidentState,
    IncidentStateInfo(name=_S.open, label="Open", sentence="is open", outcome="bad", over=False, untaken=True, event="incident.opened"),
    IncidentStateInfo(
        name=_S.acknowledged,
        label="Acknowledged",
        sentence="is acknowledged",
        outcome="waiting",
        over=False,
        event="incident.updated",
    ),
    IncidentStateInfo(name=_S.suppressed, label="Suppressed", sentence="is suppressed", outcome="neutral", over=False),
    IncidentStateInfo(
        name=_S.reopened, label="Reopened", sentence="was reopened", outcome="bad", over=False, untaken=True, event="incident.opened"
    ),
    IncidentStateInfo(name=_S.resolved, label="Resolved", sentence="is resolved", outcome="good", over=True, event="incident.resolved"),
)

UNRESOLVED = INCIDENT.where(lambda state: not state.over)
UNTAKEN = INCIDENT.where(lambda state: state.untaken)
