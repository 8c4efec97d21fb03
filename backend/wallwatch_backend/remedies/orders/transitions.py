"""What an agent's result does to a remedy: one table. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from wallwatch_backend.remedies.orders.schemas import Operation
from wallwatch_backend.remedies.states import OPEN_COMMAND, CommandState, RemedyState

Result = Literal["done", "failed", "refused", "expired"]
"""What an agent may answer, and `expired` where it answered nothing in time."""

Outcome = Literal["applied", "known", "rejected", "unknown_command", "other_remedy", "contradicts"]

ONLY_CLAIMED = frozenset({"bad_signature", "unknown_key", "malformed"})
"""Codes whose ids are what a rejected message claimed: an attacker may have invented them."""


@dataclass(frozen=True)
class Transition:
    """What a result changes; `state` is None where the remedy's own state stays and only the command has the result."""

    state: RemedyState | None
    succeeded: bool = False
    """The command did what it was for: the remedy's earlier code and message are cleared; otherwise the command's are taken over."""
    starts_verification: bool = False
    verb: str = "did"
    """Past tense, for the incident's timeline."""

    @property
    def notifies(self) -> bool:
        """Webhooks are notified of each state that is entered."""
        return self.state is not None


_UNDO_FAILED = Transition(None)  # the remedy stays applied; the command says why it could not be undone

TRANSITIONS: Mapping[tuple[Operation, Result], Transition] = {
    ("dry_run", "done"): Transition(RemedyState.planned, succeeded=True, verb="planned"),
    ("dry_run", "failed"): Transition(RemedyState.failed),
    ("dry_run", "refused"): Transition(RemedyState.refused),
    ("dry_run", "expired"): Transition(RemedyState.expired),
    ("apply", "done"): Transition(RemedyState.verifying, succeeded=True, starts_verification=True, verb="applied"),
    ("apply", "failed"): Transition(RemedyState.failed),
    ("apply", "refused"): Transition(RemedyState.refused),
    ("apply", "expired"): Transition(RemedyState.expired),
    ("undo", "done"): Transition(RemedyState.undone, succeeded=True, verb="undid"),
    ("undo", "failed"): _UNDO_FAILED,
    ("undo", "refused"): _UNDO_FAILED,
    ("undo", "expired"): _UNDO_FAILED,
}


def is_rejection(state: str, code: str | None) -> bool:
    """Whether an agent rejected a message whose ids nobody has proven."""
    return state == "refused" and code in ONLY_CLAIMED


def repetition(command_state: str, command_code: str | None, state: str, code: str | None) -> Literal["known", "contradicts"] | None:
    """How a result relates to an earlier one of its command; None where there is none, so that this one counts.

    An expired command still takes a result: the host did it, whatever our clock says. `busy` is no result: the agent had no room for
    another copy of the command, and the first copy may have run.

    >>> repetition("sent", None, "done", None), repetition("expired", None, "done", None), repetition("refused", "busy", "done", None)
    (None, None, None)
    >>> repetition("done", None, "done", ""), repetition("done", None, "failed", "exit_1")
    ('known', 'contradicts')
    """
    if command_state in OPEN_COMMAND or command_state == CommandState.expired or command_code == "busy":
        return None
    return "known" if (command_state, command_code or "") == (state, code or "") else "contradicts"
