"""Which mark each congestion notification answers, and which scopes of a limiter that leaves (Lumina, section 6.3).

A receiver answers after a delay that hardly varies. The delay that fits most notifications says which marks were
answered, and so, at the exact times of the marks, which were refused and how long after an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from wallwatch.domain.transport.frames import Integers

MOST_EVENTS = 1 << 17
"""Marks and notifications looked at; later ones repeat what the first showed."""
_MARKS_BEFORE = 16
"""Marks of a connection that a notification may answer: those within its delay."""
_MOST_DELAY_NS = 1_000_000
_ENOUGH = 0.95
"""Share of notifications that one delay must explain; fewer, and the delay varies too much for this."""
_LEAST_WIDTH_NS = 64
_LEAST_SLACK_NS = 100
"""What queues between the capture point and the receiver may add to a wait, on a clock that is finer than this."""


@dataclass
class Events:
    """Marks and notifications of one receiver in the order of their times; `scopes` has a number per scope's key."""

    marks: list[int] = field(default_factory=list)
    scopes: list[tuple[int, ...]] = field(default_factory=list)
    notifications: list[int] = field(default_factory=list)
    notified: list[int] = field(default_factory=list)
    """Number of the connection that each notification names."""

    def room(self) -> bool:
        return len(self.marks) < MOST_EVENTS


@dataclass(frozen=True)
class Limits:
    """What the marks say of a scope: refused ones came at most `longest_refused` after an answer, answers are at least
    `smallest_gap` apart; `slack` is what clocks and the delay's variation may add."""

    longest_refused: int
    smallest_gap: int | None
    slack: int

    def possible(self) -> bool:
        return self.smallest_gap is None or self.longest_refused <= self.smallest_gap + self.slack


def limits_of(events: Events, resolution_ns: float, end_ns: int) -> list[Limits] | None:
    """Limits per scope; None where no single delay explains the notifications."""
    if len(events.notifications) < 2 or not events.marks:
        return None
    times = np.array(events.marks, dtype=np.int64)
    scopes = np.array(events.scopes, dtype=np.int64)
    width = max(_LEAST_WIDTH_NS, 2 * int(resolution_ns))
    found = _answered(times, scopes[:, -1], events, width)
    if found is None:
        return None
    answered, delay = found
    last = min(end_ns, max(events.notifications[-1], events.marks[-1])) - delay - 2 * width
    slack = max(_LEAST_SLACK_NS, int(resolution_ns))
    return [_limits(times, scopes[:, place], answered, last, slack) for place in range(scopes.shape[1])]


def _answered(times: Integers, connection: Integers, events: Events, width: int) -> tuple[Integers, int] | None:
    """Whether each mark was answered, and the receiver's delay."""
    places = {int(number): np.flatnonzero(connection == number) for number in np.unique(connection)}
    marks: list[int] = []
    delays: list[int] = []
    owner: list[int] = []
    for index, (time_ns, number) in enumerate(zip(events.notifications, events.notified, strict=True)):
        of_connection = places.get(number)
        if of_connection is None:
            continue
        until = int(np.searchsorted(times[of_connection], time_ns, side="right"))
        for place in of_connection[max(0, until - _MARKS_BEFORE) : until][::-1].tolist():
            if time_ns - int(times[place]) > _MOST_DELAY_NS:
                break
            marks.append(place)
            delays.append(time_ns - int(times[place]))
            owner.append(index)
    if not delays:
        return None
    delay = _commonest(delays, owner, width)
    distance = np.abs(np.array(delays, dtype=np.int64) - delay)
    # The farthest first, so that the nearest stays.
    order = np.argsort(-distance, kind="stable")
    order = order[distance[order] <= width]
    matched = {owner[place]: marks[place] for place in order.tolist()}
    if len(matched) < _ENOUGH * len(events.notifications):
        return None
    answered = np.zeros(len(times), dtype=np.int64)
    answered[sorted(matched.values())] = 1
    return answered, delay


def _commonest(delays: Sequence[int], owner: Sequence[int], width: int) -> int:
    """The delay within `width` of which most notifications have a mark; the shortest of equals."""
    order = np.argsort(np.array(delays, dtype=np.int64), kind="stable")
    ordered, who = np.array(delays, dtype=np.int64)[order], np.array(owner, dtype=np.int64)[order]
    bins = ordered // width
    # One notification counts once per bin.
    distinct = np.unique(np.stack([bins, who]), axis=1)[0]
    values, counts = np.unique(distinct, return_counts=True)
    padded = dict(zip(values.tolist(), counts.tolist(), strict=True))
    best = max(values.tolist(), key=lambda value: (padded[value] + padded.get(value + 1, 0), -value))
    inside = ordered[(bins == best) | (bins == best + 1)]
    return int(np.median(inside))


def _limits(times: Integers, keys: Integers, answered: Integers, last: int, slack: int) -> Limits:
    order = np.lexsort((times, keys))
    key, time, hit = keys[order], times[order], answered[order] == 1
    first = np.concatenate([[True], key[1:] != key[:-1]])
    starts = np.flatnonzero(first)[np.cumsum(first) - 1]
    # Place of the latest answered mark before each, within its key; a key's first mark stands in for none.
    latest = np.maximum.accumulate(np.where(hit, np.arange(len(hit)), -1))
    before = np.concatenate([[-1], latest[:-1]])
    answered_before = before >= starts
    since = time[np.where(answered_before, before, starts)]
    refused = ~hit & (time < last)
    gaps = (time - since)[hit & answered_before]
    longest = (time - since)[refused]
    return Limits(int(longest.max()) if len(longest) else -1, int(gaps.min()) if len(gaps) else None, slack)
