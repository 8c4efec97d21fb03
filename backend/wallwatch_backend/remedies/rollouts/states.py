"""States of a rollout."""

from enum import StrEnum

from pydantic import Field

from wallwatch_backend.kit.states import State, StateTable


class RolloutState(StrEnum):
    pending = "pending"
    rejected = "rejected"
    running = "running"
    paused = "paused"
    stopped = "stopped"
    confirmed = "confirmed"
    undoing = "undoing"
    undo_paused = "undo_paused"
    undone = "undone"


class RolloutStateInfo(State):
    driven: bool = Field(default=False, description="The worker takes it from target to target, forward or back")


_S = RolloutState

ROLLOUT = StateTable(
    RolloutState,
    RolloutStateInfo(
        name=_S.pending,
        label="Waiting for approval",
        sentence="waits for a second person's approval",
        outcome="waiting",
        over=False,
        event="rollout.pending",
    ),
    RolloutStateInfo(
        name=_S.rejected,
        label="Rejected",
        sentence="was rejected",
        outcome="neutral",
        over=True,
        event="rollout.rejected",
    ),
    RolloutStateInfo(
        name=_S.running,
        label="Running",
        sentence="is running",
        outcome="waiting",
        over=False,
        undoable=True,
        driven=True,
        event="rollout.running",
    ),
    RolloutStateInfo(
        name=_S.paused,
        label="Paused",
        sentence="is paused",
        outcome="bad",
        over=False,
        undoable=True,
        event="rollout.paused",
    ),
    RolloutStateInfo(
        name=_S.stopped,
        label="Stopped",
        sentence="was stopped",
        outcome="bad",
        over=True,
        undoable=True,
        event="rollout.stopped",
    ),
    RolloutStateInfo(
        name=_S.confirmed,
        label="Confirmed",
        sentence="is confirmed by telemetry on every target",
        outcome="good",
        over=True,
        undoable=True,
        event="rollout.confirmed",
    ),
    RolloutStateInfo(
        name=_S.undoing,
        label="Rolling back",
        sentence="is being rolled back, its last wave first",
        outcome="waiting",
        over=False,
        driven=True,
        event="rollout.undoing",
    ),
    RolloutStateInfo(
        name=_S.undo_paused,
        label="Rollback paused",
        sentence="is partly rolled back, and the rollback is paused",
        outcome="bad",
        over=False,
        undoable=True,
        event="rollout.undo_paused",
    ),
    RolloutStateInfo(
        name=_S.undone,
        label="Rolled back",
        sentence="was rolled back on every target",
        outcome="neutral",
        over=True,
        event="rollout.undone",
    ),
)

DRIVEN = ROLLOUT.where(lambda state: state.driven)
UNDOABLE = ROLLOUT.where(lambda state: state.undoable)
