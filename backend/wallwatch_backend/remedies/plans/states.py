"""States of a mask plan."""

from enum import StrEnum

from wallwatch_backend.kit.states import State, StateTable


class PlanState(StrEnum):
    reading = "reading"
    planning = "planning"
    ready = "ready"
    not_proven = "not_proven"
    failed = "failed"


_S = PlanState

PLAN = StateTable(
    PlanState,
    State(name=_S.reading, label="Reading flows", sentence="waits for the agent to read the host's flows", outcome="waiting", over=False),
    State(name=_S.planning, label="Planning", sentence="is being computed and proven", outcome="waiting", over=False),
    State(name=_S.ready, label="Proven", sentence="is proven: every packet is treated as before", outcome="good", over=True),
    State(
        name=_S.not_proven, label="Not proven", sentence="is not proven: a packet might be treated differently", outcome="bad", over=True
    ),
    State(name=_S.failed, label="Failed", sentence="could not be computed", outcome="bad", over=True),
)

OPEN = PLAN.where(lambda state: not state.over)
"""Flows or plan are still awaited."""
