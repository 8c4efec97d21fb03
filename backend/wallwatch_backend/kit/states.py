"""State machines as tables: every state once, with what code, API, webhooks and UI have to know of it.

Sets of states are derived from a table (`REMEDY.where(lambda state: state.undoable)`), never listed by hand.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

Outcome = Literal["waiting", "good", "bad", "neutral"]


class State(BaseModel):
    """One state of a remedy, a rollout, a plan, an incident."""

    model_config = ConfigDict(frozen=True)

    name: str
    label: str = Field(description="For the UI")
    sentence: str = Field(description="What follows the subject's name in audit log, webhooks and timeline")
    outcome: Outcome = Field(description="`waiting` until something is decided; `bad` and not `over`: held up, somebody must look")
    over: bool = Field(description="Nothing more happens unless somebody acts")
    undoable: bool = Field(default=False, description="An undo may be requested, if there is anything to undo")
    event: str | None = Field(default=None, description="Webhook event that is sent when the state is entered")


Name = TypeVar("Name", bound=StrEnum)
Info = TypeVar("Info", bound=State)


class StateTable(Generic[Name, Info]):
    """The states of one machine, in the order in which they are usually entered.

    Raises
    ------
    ValueError
        When a member of `names` has no row, or more than one.

    Examples
    --------
    >>> class Lamp(StrEnum):
    ...     off = "off"
    ...     on = "on"
    >>> off = State(name=Lamp.off, label="Off", sentence="is off", outcome="neutral", over=True)
    >>> table = StateTable(Lamp, off, State(name=Lamp.on, label="On", sentence="is on", outcome="good", over=False))
    >>> table["on"].sentence, table.where(lambda state: state.over)
    ('is on', (<Lamp.off: 'off'>,))
    >>> StateTable(Lamp, off)
    Traceback (most recent call last):
    ValueError: Lamp has the states off, on; its table has off
    """

    def __init__(self, names: type[Name], *states: Info) -> None:
        if sorted(names) != sorted(state.name for state in states):
            rows = ", ".join(state.name for state in states)
            raise ValueError(f"{names.__name__} has the states {', '.join(names)}; its table has {rows}")
        self._names = names
        self.states = states
        self._by_name = {state.name: state for state in states}

    def __getitem__(self, name: str) -> Info:
        return self._by_name[name]

    def where(self, holds: Callable[[Info], bool]) -> tuple[Name, ...]:
        """Names of the states for which a condition holds, in the table's order."""
        return tuple(self._names(state.name) for state in self.states if holds(state))


def sql_list(states: Iterable[str]) -> str:
    """States as literals of SQL, for the condition of a partial index.

    >>> sql_list(["running", "undoing"])
    "'running', 'undoing'"
    """
    return ", ".join(f"'{state}'" for state in states)
