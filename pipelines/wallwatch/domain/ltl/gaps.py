"""A monitor that survives lost events: after a gap a subject may be in any state that its lost events could have led to.

The states of the widened machine are sets of the monitor's states. A gap leads to everything that can be reached; events narrow the set
again, and when one state is left the subject is known again. A violation is reported only if every state of the set is a violation: a gap
can hide a violation, but never invent one.

To restart after each violation (`restart`), widen with `restarts`: a violation that a gap may have hidden is then over.
Otherwise it stays possible for ever, and the subject unknown.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import cast

from wallwatch.domain.ltl.limits import TooComplex
from wallwatch.domain.ltl.monitor import MAX_TABLE, Monitor

MAX_STATES = 4096


@dataclass(frozen=True)
class Widened:
    """`table[state][letter]` is the next state and `gap[state]` that after lost events. State 0 is the initial one.

    States with verdict `?` come first, then final ones, so that `state >= first_final` means a verdict.
    `known[state]` is false while lost events leave more than one possibility.
    """

    propositions: tuple[str, ...]
    verdicts: tuple[str, ...]
    known: tuple[bool, ...]
    retired: tuple[bool, ...]
    """No verdict can follow: such a subject can be dropped."""
    table: tuple[tuple[int, ...], ...]
    gap: tuple[int, ...]

    @property
    def first_final(self) -> int:
        return sum(verdict == "?" for verdict in self.verdicts)

    def restart(self, letter: int) -> int:
        """The state after a violation: the violating step is the first one of the restart, unless it alone violates."""
        state = self.table[0][letter]
        return 0 if self.verdicts[state] == "F" else state

    def letter(self, present: frozenset[str]) -> int:
        """The letter of a set of propositions; others are ignored."""
        return sum(1 << number for number, name in enumerate(self.propositions) if name in present)


def widened(monitor: Monitor, most_states: int = MAX_STATES, restarts: bool = False) -> Widened:
    """Widen a monitor.

    Parameters
    ----------
    restarts : bool
        The runner continues with `restart` after each violation.

    Raises
    ------
    TooComplex
        When more than `most_states` sets of states, or a table of more than MAX_TABLE entries would be required.

    Examples
    --------
    >>> from wallwatch.domain.ltl.monitor import compiled
    >>> machine = widened(compiled("G(a -> X b)"))
    >>> machine.known[machine.gap[0]], machine.verdicts[machine.gap[0]]
    (False, '?')
    """
    subsets = _Subsets(monitor, most_states, restarts)
    rows, gaps = subsets.explore()
    verdicts = [_verdict(monitor, members) for members in subsets.members]
    order = sorted(range(len(verdicts)), key=lambda state: (verdicts[state] != "?", state))
    if verdicts[0] != "?":  # the initial state is number 0 whatever its verdict
        order = [0, *(state for state in order if state != 0)]
    place = {state: position for position, state in enumerate(order)}
    return Widened(
        propositions=monitor.propositions,
        verdicts=tuple(verdicts[state] for state in order),
        known=tuple(subsets.members[state].bit_count() == 1 for state in order),
        retired=tuple(all(member in monitor.hopeless for member in _bits(subsets.members[state])) for state in order),
        table=tuple(tuple(place[following] for following in rows[state]) for state in order),
        gap=tuple(place[gaps[state]] for state in order),
    )


class _Subsets:
    """The sets of a monitor's states that events and gaps lead to, each a number whose bits are its members."""

    def __init__(self, monitor: Monitor, most_states: int, restarts: bool) -> None:
        self.members: list[int] = [1]
        """By number; the first is the initial state alone."""
        self._monitor = monitor
        self._most_states = most_states
        self._letters = 1 << len(monitor.propositions)
        self._failed = sum(1 << state for state, verdict in enumerate(monitor.verdicts) if verdict == "F") if restarts else 0
        self._numbers = {1: 0}

    def explore(self) -> tuple[list[list[int]], list[int]]:
        """For each set: the numbers of those that letters lead to, and of the one after a gap."""
        monitor, letters, failed = self._monitor, self._letters, self._failed
        reach = _reachable(monitor, failed)
        diagrams = monitor.diagrams
        steps = [diagrams.mapped(lambda state: 1 << cast(int, state), {}, step) for step in monitor.steps]
        first_steps = [1 << monitor.next(0, letter) for letter in range(letters)]
        restarted = [1 if step & failed else step for step in first_steps]
        memo: dict[tuple[int, int], int] = {}
        rows: list[list[int]] = []
        gaps: list[int] = []
        for members in self.members:  # grows while it is walked
            joined = diagrams.leaf(0)
            after_gap = 0
            for state in _bits(members):
                joined = diagrams.combine(_union, memo, joined, steps[state])
                after_gap |= reach[state]
            rows.append([self._number_of(cast(int, diagrams.at(joined, letter)), restarted[letter]) for letter in range(letters)])
            gaps.append(self._number_of(after_gap))
        return rows, gaps

    def _number_of(self, members: int, restarted: int = 1) -> int:
        """The number of a set. Where only some of its states are violated, those have been `restarted`."""
        if members & self._failed and members & ~self._failed:
            members = members & ~self._failed | restarted
        found = self._numbers.get(members)
        if found is not None:
            return found
        count = len(self.members)
        if count >= self._most_states or count * self._letters > MAX_TABLE:
            raise TooComplex(f"after lost events the monitor has more than {count:,} possible states; split the formula into parts")
        self._numbers[members] = count
        self.members.append(members)
        return count


def _union(a: Hashable, b: Hashable) -> int:
    return cast(int, a) | cast(int, b)


def _bits(members: int) -> list[int]:
    return [position for position in range(members.bit_length()) if members >> position & 1]


def _verdict(monitor: Monitor, members: int) -> str:
    found = {monitor.verdicts[state] for state in _bits(members)}
    return found.pop() if len(found) == 1 else "?"


def _reachable(monitor: Monitor, failed: int) -> list[int]:
    """For each state the set of those that any word leads to, itself included; from one of `failed` it continues as from the first."""
    reach = [1 << state for state in range(len(monitor.verdicts))]
    changed = True
    while changed:
        changed = False
        for state in range(len(reach)):
            after = reach[state]
            for following in monitor.successors(state):
                after |= reach[following] | (reach[0] if failed >> following & 1 else 0)
            if after != reach[state]:
                reach[state], changed = after, True
    return reach
