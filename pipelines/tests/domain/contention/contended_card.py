"""A card as a mechanism, apart from the models: a round-robin server request by request, a shared cache, synthetic functions.

Nothing here imports `wallwatch.domain.contention`.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def served(queues: list[int], times: list[float], rates: list[float | None], turns: int = 4000) -> list[float]:
    """Requests per unit of time of each function, by simulating a server that visits queues in turn; None never runs empty."""
    owner = [at for at, count in enumerate(queues) for _ in range(count)]
    period = [0.0 if rates[at] is None else queues[at] / float(rates[at] or 1e-12) for at in owner]
    # Queues of one function start out of step, as independent sources are.
    arrivals = [(period[queue] * ((queue * 0.618) % 1.0), queue) for queue in range(len(owner)) if rates[owner[queue]] is not None]
    heapq.heapify(arrivals)
    waiting = [0] * len(owner)
    count = [0] * len(queues)
    end = turns * sum(n * t for n, t in zip(queues, times, strict=True))
    warm, now, at = 0.1 * end, 0.0, 0
    while now < end:
        while arrivals and arrivals[0][0] <= now:
            due, queue = heapq.heappop(arrivals)
            waiting[queue] += 1
            heapq.heappush(arrivals, (due + period[queue], queue))
        for step in range(len(owner)):
            queue = (at + step) % len(owner)
            if rates[owner[queue]] is None or waiting[queue]:
                break
        else:
            now = arrivals[0][0]
            continue
        if rates[owner[queue]] is not None:
            waiting[queue] -= 1
        now += times[owner[queue]]
        if now > warm:
            count[owner[queue]] += 1
        at = queue + 1
    return [number / (now - warm) for number in count]


@dataclass(frozen=True)
class Cache:
    """A last-level cache shared by what each party touches, and a function that walks a table of its flows."""

    size_mb: float = 6.0
    base_us: float = 0.9
    references: float = 14.0
    hit_us: float = 0.01
    miss_us: float = 0.06
    bytes_per_flow: float = 160.0

    def throughput(self, flows: float, competitors: Array) -> float:
        """kpps for a number of flows next to seven counters of competitors."""
        own = flows * self.bytes_per_flow / 1e6 + 0.5
        pressure = competitors[6] * min(1.0, competitors[2] / 6e7)
        held = min(own, self.size_mb * own / (own + pressure))
        missed = 1.0 - held / own
        bandwidth = 1.0 + (competitors[4] + competitors[5]) / 1.2e10
        return 1000.0 / (self.base_us + self.references * (self.hit_us + missed * self.miss_us * bandwidth))


def counters(random: np.random.Generator) -> Array:
    """Seven counters of a random memory bench."""
    reads = random.uniform(3e6, 7.5e7)
    ipc = 1.02 + 0.4 * reads / 7.5e7
    memory = 7.5e8 + 9.5 * reads
    return np.array([ipc, 2.49e9 * ipc, reads, 0.49 * reads, memory, 0.31 * memory, random.uniform(0.2, 12.0)])


def memory_rows(size: int, seed: int, flows: float | None = None, noise: float = 0.02) -> Array:
    """A memory profile in the files' columns, shape (size, 10)."""
    random, cache = np.random.default_rng(seed), Cache()
    rows = []
    for _ in range(size):
        present = counters(random)
        table = flows or float(np.round(random.uniform(500, 60_000)))
        measured = cache.throughput(table, present) * random.normal(1.0, noise)
        rows.append([table, 1518.0, *present, measured])
    return np.array(rows)


def text(rows: Array) -> str:
    """As the files have it: blank-separated, no header."""
    return "\n".join(" ".join(repr(float(value)) for value in row) for row in rows) + "\n"
