"""Bounds on a compilation: some formulas have exponential monitors, and an error is better than a machine that hangs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


class TooComplex(ValueError):
    """The monitor of a formula would exceed a bound. The message names the bound and a solution."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one compilation may use."""

    states: int = 20_000
    nodes: int = 500_000
    """Nodes of decision diagrams: some 700 bytes each with all that refers to them, so 350 MB."""
    seconds: float = 10.0
    """CPU time, so that what else the machine does decides nothing."""
    propositions: int = 64


@dataclass(slots=True)
class Budget:
    """What is left of the limits while a formula is compiled."""

    limits: Limits
    _deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self._deadline = time.thread_time() + self.limits.seconds

    def check_states(self, count: int) -> None:
        """Raise `TooComplex` if there are too many states, or the time is up."""
        if count > self.limits.states:
            raise TooComplex(_message(f"more than {self.limits.states:,} states"))
        self.check_time()

    def check_nodes(self, count: int) -> None:
        """Raise `TooComplex` if there are too many nodes of decision diagrams."""
        if count > self.limits.nodes:
            raise TooComplex(_message(f"more than {self.limits.nodes:,} nodes of decision diagrams"))
        self.check_time()

    def check_time(self) -> None:
        """Raise `TooComplex` when the time is up."""
        if time.thread_time() > self._deadline:
            raise TooComplex(_message(f"more than {self.limits.seconds:g} s"))


def _message(what: str) -> str:
    return (
        f"the monitor of this formula takes {what}: formulas such as G(a -> X X X ... b), or many F joined by &, have exponential "
        "monitors. Shorten the chain of X, or split a conjunction into several policies"
    )
