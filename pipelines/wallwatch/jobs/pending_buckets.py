"""Which buckets of roll-ups received rows and wait to be computed, on the Apache edition of TimescaleDB."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence

from wallwatch.store.rollups import Rollup

TURN_S = 10.0
"""After this time, the other roll-ups have their turn."""

Compute = Callable[[Rollup, int], None]
"""Computes the bucket that begins at this second (Unix time)."""


class PendingBuckets:
    """Begins of buckets, in seconds since 1970, by roll-up; `roll_ups` has each after its source. Batches may be noted from another thread.

    A bucket stays noted until it has been computed: after an error, the next turn tries again.
    """

    def __init__(self, roll_ups: Sequence[Rollup], clock: Callable[[], float] = time.monotonic) -> None:
        self._roll_ups = roll_ups
        self._clock = clock
        self._lock = threading.Lock()
        self._pending: dict[str, set[int]] = {rollup.view: set() for rollup in roll_ups}
        self._due_s: dict[str, float] = {}

    def note(self, source: str, seconds: Iterable[int]) -> None:
        """Rows of the source arrived at these times (Unix time)."""
        seconds = list(seconds)
        with self._lock:
            for rollup in self._roll_ups:
                if rollup.source == source:
                    self._pending[rollup.view].update(at - at % rollup.width_s for at in seconds)

    def waiting(self, view: str) -> int:
        """How many buckets of a roll-up wait."""
        with self._lock:
            return len(self._pending[view])

    def compute(self, now_s: float, kept_since_s: float, compute: Compute) -> None:
        """Compute what is due, the newest bucket first. What ended before `kept_since_s` is left as it is: its rows may be gone."""
        for rollup in self._roll_ups:
            begin_s = self._clock()
            if begin_s < self._due_s.get(rollup.view, float("-inf")):
                continue
            computed = 0
            while (bucket := self._take(rollup, now_s, kept_since_s)) is not None:
                try:
                    compute(rollup, bucket)
                except BaseException:
                    with self._lock:
                        self._pending[rollup.view].add(bucket)
                    raise
                self.note(rollup.view, [bucket])
                computed += 1
                if self._clock() - begin_s > TURN_S:
                    break
            if computed:
                end_s = self._clock()
                self._due_s[rollup.view] = max(begin_s + rollup.refresh_every_s, end_s + (end_s - begin_s) * (1 / rollup.most_share - 1))

    def _take(self, rollup: Rollup, now_s: float, kept_since_s: float) -> int | None:
        """Remove the newest bucket that can be computed. One that is over waits for its source, so that a sum never shrinks."""
        with self._lock:
            pending = self._pending[rollup.view]
            of_source = self._pending.get(rollup.source, set())
            unfinished = {at - at % rollup.width_s for at in of_source}
            for bucket in sorted(pending, reverse=True):
                end = bucket + rollup.width_s
                if end <= kept_since_s:
                    pending.discard(bucket)
                elif end > now_s or bucket not in unfinished:
                    pending.discard(bucket)
                    return bucket
            return None
