"""When packets of each flow come: all the time, in bursts with random rests, at fixed periods, or one at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FOREVER = np.inf


@dataclass(frozen=True)
class Pattern:
    """How one flow sends. `on_s` and `off_s` are means where `random`, else exact; a phase is drawn for each flow."""

    packets_per_s: float = 300.0
    packet_bytes: int = 1100
    on_s: float = FOREVER
    off_s: float = 0.0
    random: bool = False
    spread: float = 0.0
    """With fixed periods: each rest is drawn from `off_s` times 1 ± spread."""


def busy(packets_per_s: float = 300.0, packet_bytes: int = 1100) -> Pattern:
    """A flow that never rests."""
    return Pattern(packets_per_s, packet_bytes)


def bursts(on_s: float, off_s: float, packets_per_s: float = 1500.0) -> Pattern:
    """Bursts and rests of random (exponential) lengths: collective operations between phases of computing."""
    return Pattern(packets_per_s, 1100, on_s, off_s, random=True)


def checkpoints(on_s: float, off_s: float, spread: float = 0.02) -> Pattern:
    """Rests of the same length again and again, as a training job's steps make them."""
    return Pattern(4000.0, 4100, on_s, off_s, spread=spread)


def keepalive(every_s: float, spread: float = 0.01) -> Pattern:
    """One packet now and then, as protocols send while nothing happens."""
    return Pattern(1000.0, 90, 0.001, every_s - 0.001, spread=spread)


@dataclass
class Step:
    """What a set of flows sent in one step of time."""

    packets: Floats
    first_at: Floats
    """Time of the first packet in this step, inf where there was none."""


class Traffic:
    """The senders of all flows, advanced together; times in s since the case began."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self.rate: Floats = np.empty(0)
        self.packet_bytes: Floats = np.empty(0)
        self._on_s: Floats = np.empty(0)
        self._off_s: Floats = np.empty(0)
        self._is_random: Bools = np.empty(0, bool)
        self._spread: Floats = np.empty(0)
        self.on: Bools = np.empty(0, bool)
        self._switch_at: Floats = np.empty(0)

    def add(self, pattern: Pattern, count: int, now: float) -> NDArray[np.int64]:
        """Add senders in the middle of their patterns, and return their indices."""
        first = len(self.rate)
        cycle = pattern.on_s + pattern.off_s
        endless = np.isinf(cycle)
        at = np.full(count, 0.0) if endless else self._random.random(count) * cycle
        on = at < pattern.on_s
        until = np.full(count, FOREVER) if endless else now + np.where(on, pattern.on_s - at, cycle - at)
        self.rate = np.append(self.rate, np.full(count, pattern.packets_per_s))
        self.packet_bytes = np.append(self.packet_bytes, np.full(count, float(pattern.packet_bytes)))
        self._on_s = np.append(self._on_s, np.full(count, pattern.on_s))
        self._off_s = np.append(self._off_s, np.full(count, pattern.off_s))
        self._is_random = np.append(self._is_random, np.full(count, pattern.random))
        self._spread = np.append(self._spread, np.full(count, pattern.spread))
        self.on = np.append(self.on, on)
        self._switch_at = np.append(self._switch_at, until)
        return np.arange(first, first + count)

    def change(self, flows: NDArray[np.int64], pattern: Pattern, now: float) -> None:
        """Let flows follow another pattern from now on."""
        fresh = Traffic(self._random)
        fresh.add(pattern, len(flows), now)
        for name in ("rate", "packet_bytes", "_on_s", "_off_s", "_is_random", "_spread", "on", "_switch_at"):
            getattr(self, name)[flows] = getattr(fresh, name)

    def stop(self, flows: NDArray[np.int64]) -> None:
        """End flows: no packet comes any more."""
        self.on[flows] = False
        self._switch_at[flows] = FOREVER

    def advance(self, since: float, to: float) -> Step:
        """Send from one time to another."""
        count = len(self.rate)
        at = np.full(count, since)
        packets, first_at = np.zeros(count), np.full(count, FOREVER)
        first_at[self.on] = since
        packets[self.on] += (np.minimum(self._switch_at[self.on], to) - since) * self.rate[self.on]
        while True:
            due = np.flatnonzero(self._switch_at <= to)
            if not len(due):
                return Step(packets, first_at)
            at[due] = self._switch_at[due]
            self.on[due] = ~self.on[due]
            starts = due[self.on[due]]
            first_at[starts] = np.minimum(first_at[starts], at[starts])
            self._switch_at[due] = at[due] + self._durations(due)
            packets[starts] += np.maximum(1.0, (np.minimum(self._switch_at[starts], to) - at[starts]) * self.rate[starts])

    def _durations(self, due: NDArray[np.int64]) -> Floats:
        mean = np.where(self.on[due], self._on_s[due], self._off_s[due])
        drawn = np.where(self._is_random[due], self._random.exponential(1.0, len(due)), 1.0)
        rests = ~self.on[due]
        drawn[rests] *= 1 + self._spread[due][rests] * (2 * self._random.random(int(rests.sum())) - 1)
        return mean * drawn
