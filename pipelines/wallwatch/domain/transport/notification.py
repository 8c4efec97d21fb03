"""Which rule a receiver follows when it limits congestion notification packets (Lumina, section 6.3).

A limiter with scope s and interval x sends a CNP for a CE-marked packet unless the last CNP of the packet's key in s is
younger than x. So for the true scope, every CE-marked packet without a CNP waited less than any two CNPs of its key are
apart. A scope for which that is false is refuted. Of the others, the coarsest is the answer.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from wallwatch.domain.transport.notification_matches import Events, limits_of
from wallwatch.domain.transport.results import NotificationPoint

SCOPES = ("per_port", "per_destination", "per_qp")
"""From the coarsest to the finest."""
NACK_CNP_NS = 2_000
"""A CNP this soon after a NACK, without a CE mark to answer, was caused by the NACK (ConnectX-5 and -6)."""


IN_FLIGHT_NS = 2_000
"""A CNP leaves at least this long after its mark in the worst case; marks that young are not refused yet."""
SLACK_NS = 1_000
"""What clocks with microsecond resolution, and queues between RNIC and capture, may add to or take from an interval."""


@dataclass
class _Key:
    """One limiter, if the scope is the true one; times in nanoseconds."""

    first_mark: int
    last_cnp: int | None = None
    pending: deque[int] = field(default_factory=deque)
    """Marks that a CNP under way may still answer."""


@dataclass
class _Scope:
    keys: dict[object, _Key] = field(default_factory=dict)
    longest_refused: int = -1
    smallest_gap: int | None = None
    in_flight: int = IN_FLIGHT_NS

    def mark(self, key: object, time_ns: int) -> None:
        state = self.keys.get(key)
        if state is None:
            state = self.keys[key] = _Key(time_ns)
        self._refuse(state, time_ns - self.in_flight)
        state.pending.append(time_ns)

    def _refuse(self, state: _Key, before: int) -> None:
        """Marks older than `before` got no CNP."""
        since = state.first_mark if state.last_cnp is None else state.last_cnp
        while state.pending and state.pending[0] < before:
            self.longest_refused = max(self.longest_refused, state.pending.popleft() - since)

    def notify(self, key: object, time_ns: int) -> None:
        state = self.keys.get(key)
        if state is None:
            state = self.keys[key] = _Key(time_ns)
        if state.pending:
            self.in_flight = max(self.in_flight, (time_ns - state.pending[-1]) * 3 // 2)
        self._refuse(state, time_ns - self.in_flight)
        state.pending.clear()
        if state.last_cnp is not None:
            gap = time_ns - state.last_cnp
            self.smallest_gap = gap if self.smallest_gap is None else min(self.smallest_gap, gap)
        state.last_cnp = time_ns

    def finish(self, end_ns: int) -> None:
        for state in self.keys.values():
            self._refuse(state, end_ns - self.in_flight)

    def possible(self) -> bool:
        return self.smallest_gap is None or self.longest_refused <= self.smallest_gap + SLACK_NS


class NotificationTracker:
    """Marks and notifications of one receiver; memory grows with its QPs, not with the packets."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._scopes = {name: _Scope() for name in SCOPES}
        self._marks = 0
        self._cnps = 0
        self._by_nack = 0
        self._last_nack: dict[object, int] = {}
        self._unanswered: dict[object, bool] = {}
        self._events = Events()
        self._numbers: dict[object, int] = {}

    def mark(self, peer: object, qp: object, time_ns: int) -> None:
        """A CE-marked data packet from `peer` reached this receiver; `qp` names the connection."""
        self._marks += 1
        self._unanswered[qp] = True
        for name, key in zip(SCOPES, (0, peer, qp), strict=True):
            self._scopes[name].mark(key, time_ns)
        if self._events.room():
            self._events.marks.append(time_ns)
            self._events.scopes.append((0, self._number(peer), self._number(qp)))

    def nack(self, qp: object, time_ns: int) -> None:
        self._last_nack[qp] = time_ns

    def notify(self, peer: object, qp: object, time_ns: int) -> None:
        """This receiver sent a CNP to `peer`."""
        self._cnps += 1
        nack = self._last_nack.get(qp)
        if nack is not None and time_ns - nack <= NACK_CNP_NS and not self._unanswered.get(qp):
            self._by_nack += 1
            return
        self._unanswered[qp] = False
        for name, key in zip(SCOPES, (0, peer, qp), strict=True):
            self._scopes[name].notify(key, time_ns)
        if self._events.room():
            self._events.notifications.append(time_ns)
            self._events.notified.append(self._number(qp))

    def _number(self, key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _possible(self, end_ns: int, resolution_ns: float) -> list[str]:
        exact = limits_of(self._events, resolution_ns, end_ns)
        if exact:
            possible = [name for name, limits in zip(SCOPES, exact, strict=True) if limits.possible()]
            if possible:
                return possible
        for scope in self._scopes.values():
            scope.finish(end_ns)
        return [name for name in SCOPES if self._scopes[name].possible()]

    def result(self, end_ns: int, resolution_ns: float = 1.0) -> NotificationPoint:
        possible = self._possible(end_ns, resolution_ns)
        if self._cnps - self._by_nack < 2 or not self._marks:
            possible = []
        mode = possible[0] if possible else None
        gap = self._scopes[mode].smallest_gap if mode else None
        return NotificationPoint(self._address, mode, possible[1:], gap, self._marks, self._cnps)
