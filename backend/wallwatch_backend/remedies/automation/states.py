"""States of a run: one attempt of an automation rule at one place."""

from enum import StrEnum

from wallwatch_backend.kit.states import State, StateTable


class RunState(StrEnum):
    planning = "planning"
    waiting = "waiting"
    applying = "applying"
    undoing = "undoing"
    change_confirmed = "change_confirmed"
    confirmed = "confirmed"
    undone = "undone"
    gave_up = "gave_up"


_S = RunState

RUN = StateTable(
    RunState,
    State(name=_S.planning, label="Dry run", sentence="prepares its mask plan or dry run", outcome="waiting", over=False),
    State(name=_S.waiting, label="Waiting", sentence="waits for the limits to allow its remedy", outcome="waiting", over=False),
    State(name=_S.applying, label="Applying", sentence="has requested its remedy", outcome="waiting", over=False),
    State(name=_S.undoing, label="Undoing", sentence="undoes a remedy that did not work", outcome="waiting", over=False),
    State(name=_S.change_confirmed, label="Change confirmed", sentence="ended: the host has the change", outcome="good", over=True),
    State(name=_S.confirmed, label="Confirmed", sentence="ended: the effect of its remedy is confirmed", outcome="good", over=True),
    State(name=_S.undone, label="Undone", sentence="ended: its remedy was undone", outcome="neutral", over=True),
    State(name=_S.gave_up, label="Gave up", sentence="gave up", outcome="bad", over=True),
)
