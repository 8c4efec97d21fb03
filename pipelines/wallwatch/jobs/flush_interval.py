"""How long `ingest` collects messages for one transaction.

A transaction has its price, whatever it holds: with ten samples, some 2.3 ms of CPU here and 2.5 ms in PostgreSQL
(docs/decisions/0053). One process pays it four times per second.
Eight that share a fleet would pay it 32 times per second for the same rows, so each of several processes collects for longer while what
comes is little. A process on its own never does: there, a sample would only come later.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaException

ENOUGH_ROWS = 2_000
"""Rows that are worth a transaction: at 30 us of CPU each, its own price is then less than a tenth."""

MOST_INTERVALS = 3
"""With the default interval, samples wait for 0.75 s at most: at the event stream they are still less than a second old in the median."""

_ANSWER_S = 0.5
"""The thread that asks is the one that reads: a broker that is busy for longer is asked again later."""

_AGAIN_S = 60.0
"""Pause after a question without an answer: while the broker is down, nothing is read anyway, and once it is back, reading comes first."""


class FlushInterval:
    """The time for which the next batch is collected. All times are in seconds.

    Parameters
    ----------
    interval_s : float
        What the operator has set.
    topic : str
        Of its partitions, each process has its share.

    Examples
    --------
    >>> interval = FlushInterval(0.25, "wallwatch.blocks")
    >>> interval.collected(100, 0.25), interval.seconds
    (None, 0.25)
    >>> interval.processes = 8
    >>> interval.seconds
    0.75
    >>> interval.collected(1_000, 0.25), interval.seconds
    (None, 0.5)
    >>> interval.collected(9_000, 0.25), interval.seconds
    (None, 0.25)
    """

    def __init__(self, interval_s: float, topic: str, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._interval_s = interval_s
        self._topic = topic
        self._clock_s = clock_s
        self._rows_per_s = 0.0
        self._assigned = 0
        self._partitions = 0
        """Of the topic, as the broker said last; 0 until it has."""
        self._ask_s: float | None = None
        """When the broker is to be asked; None while there is nothing to ask."""
        self.processes = 1
        """How many share the partitions if each has as many as this one."""

    @property
    def seconds(self) -> float:
        """Until there are enough rows at the rate of the last batch, and not longer than a few intervals."""
        longest = self._interval_s * min(self.processes, MOST_INTERVALS)
        if self._rows_per_s * longest <= ENOUGH_ROWS:
            return longest
        return max(self._interval_s, ENOUGH_ROWS / self._rows_per_s)

    def collected(self, rows: int, took_s: float) -> None:
        """Note what the last batch had."""
        self._rows_per_s = rows / max(took_s, self._interval_s)

    def follow(self, consumer: Consumer) -> None:
        """Look how many partitions this process has; the broker is asked after that has changed, and seldom while it gives no number."""
        assigned = sum(one.topic == self._topic for one in consumer.assignment())
        now_s = self._clock_s()
        if assigned != self._assigned:
            self._assigned = assigned
            self._ask_s = now_s
        if assigned and self._ask_s is not None and now_s >= self._ask_s:
            if partitions := self._asked(consumer):
                self._partitions, self._ask_s = partitions, None
            else:
                self._ask_s = self._clock_s() + _AGAIN_S
        self.processes = max(1, self._partitions // assigned) if assigned else 1

    def _asked(self, consumer: Consumer) -> int:
        """How many partitions the topic has; 0 where the broker does not say."""
        try:
            found = consumer.list_topics(self._topic, timeout=_ANSWER_S).topics.get(self._topic)
        except KafkaException:
            return 0
        return len(found.partitions) if found is not None else 0
