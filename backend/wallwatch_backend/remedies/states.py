"""States of a remedy, and of the commands that carry it to its host's agent."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from wallwatch_backend.kit.states import State, StateTable


class RemedyState(StrEnum):
    pending = "pending"
    rejected = "rejected"
    approved = "approved"
    running = "running"
    planned = "planned"
    verifying = "verifying"
    change_confirmed = "change_confirmed"
    confirmed = "confirmed"
    not_confirmed = "not_confirmed"
    failed = "failed"
    refused = "refused"
    expired = "expired"
    undone = "undone"


class RemedyStateInfo(State):
    on_host: Literal["unchanged", "unknown", "changed", "restored"] = Field(description="What the remedy has done to the host")
    judged: bool = Field(default=False, description="Host or telemetry has said whether it worked: the circuit breaker counts it")


_S = RemedyState

REMEDY = StateTable(
    RemedyState,
    RemedyStateInfo(
        name=_S.pending,
        label="Waiting for approval",
        sentence="waits for a second person's approval",
        outcome="waiting",
        over=False,
        on_host="unchanged",
        event="remedy.pending",
    ),
    RemedyStateInfo(
        name=_S.rejected,
        label="Rejected",
        sentence="was rejected",
        outcome="neutral",
        over=True,
        on_host="unchanged",
        event="remedy.rejected",
    ),
    RemedyStateInfo(
        name=_S.approved,
        label="Approved",
        sentence="may run and waits for the host's agent",
        outcome="waiting",
        over=False,
        on_host="unchanged",
        event="remedy.approved",
    ),
    RemedyStateInfo(
        name=_S.running,
        label="Running",
        sentence="was sent to the host and is running",
        outcome="waiting",
        over=False,
        on_host="unknown",
        event="remedy.running",
    ),
    RemedyStateInfo(
        name=_S.planned,
        label="Planned",
        sentence="was planned in a dry run, which changed nothing",
        outcome="neutral",
        over=True,
        on_host="unchanged",
    ),
    RemedyStateInfo(
        name=_S.verifying,
        label="Verifying",
        sentence="was applied; its change and its effect are being checked",
        outcome="waiting",
        over=False,
        undoable=True,
        on_host="changed",
        event="remedy.verifying",
    ),
    RemedyStateInfo(  # says nothing about a symptom: the end of a remedy whose effect no signal can show
        name=_S.change_confirmed,
        label="Change confirmed",
        sentence="was applied, and the host has the change",
        outcome="good",
        over=True,
        undoable=True,
        on_host="changed",
        judged=True,
        event="remedy.change_confirmed",
    ),
    RemedyStateInfo(
        name=_S.confirmed,
        label="Confirmed",
        sentence="was applied, and the signal that it had to change confirms it",
        outcome="good",
        over=True,
        undoable=True,
        on_host="changed",
        judged=True,
        event="remedy.confirmed",
    ),
    RemedyStateInfo(
        name=_S.not_confirmed,
        label="Not confirmed",
        sentence="was applied, but its change or its effect is not confirmed",
        outcome="bad",
        over=True,
        undoable=True,
        on_host="changed",
        judged=True,
        event="remedy.not_confirmed",
    ),
    RemedyStateInfo(
        name=_S.failed,
        label="Failed",
        sentence="failed on the host",
        outcome="bad",
        over=True,
        undoable=True,  # it may have changed something first; the agent answers `nothing_to_undo` when it did not
        on_host="unknown",
        judged=True,
        event="remedy.failed",
    ),
    RemedyStateInfo(
        name=_S.refused,
        label="Refused",
        sentence="was refused by the host's agent",
        outcome="bad",
        over=True,
        on_host="unchanged",
        event="remedy.refused",
    ),
    RemedyStateInfo(
        name=_S.expired,
        label="Expired",
        sentence="expired",
        outcome="bad",
        over=True,
        undoable=True,  # the agent may have run it and not have answered
        on_host="unknown",
        event="remedy.expired",
    ),
    RemedyStateInfo(
        name=_S.undone,
        label="Undone",
        sentence="was undone",
        outcome="neutral",
        over=True,
        on_host="restored",
        event="remedy.undone",
    ),
)

UNDER_WAY = REMEDY.where(lambda state: not state.over and state.name != RemedyState.pending)
"""It was admitted: it counts as under way on its host."""
BEFORE_RESULT = REMEDY.where(lambda state: state.name in UNDER_WAY and not state.undoable)
"""Admitted, and the host has not answered yet."""
UNDOABLE = REMEDY.where(lambda state: state.undoable)
WORKED = REMEDY.where(lambda state: state.over and state.outcome == "good")
"""It did what could be confirmed of it: its effect, or where no signal shows one, its change."""
JUDGED = REMEDY.where(lambda state: state.judged)
DONE_ON_HOST = REMEDY.where(lambda state: state.on_host in ("changed", "restored"))
"""The host carried it out, whether or not it was undone since."""


class CommandState(StrEnum):
    queued = "queued"
    sent = "sent"
    done = "done"
    failed = "failed"
    refused = "refused"
    expired = "expired"


_C = CommandState

COMMAND = StateTable(
    CommandState,
    State(name=_C.queued, label="Queued", sentence="waits for the agent to connect", outcome="waiting", over=False),
    State(name=_C.sent, label="Sent", sentence="was sent to the agent", outcome="waiting", over=False),
    State(name=_C.done, label="Done", sentence="was carried out", outcome="good", over=True),
    State(name=_C.failed, label="Failed", sentence="failed on the host", outcome="bad", over=True),
    State(name=_C.refused, label="Refused", sentence="was refused by the agent", outcome="bad", over=True),
    State(name=_C.expired, label="Expired", sentence="got no answer from the agent in time", outcome="bad", over=True),
)

OPEN_COMMAND = COMMAND.where(lambda state: not state.over)
"""No result yet."""
