"""How long `ingest` collects messages for one transaction.

A transaction has its price, whatever it holds: some 3 ms of CPU here and 1.5 ms in PostgreSQL. One process pays it four times per second.
Eight that share a fleet would pay it 32 times per second for the same rows, so each of several processes collects for longer while what
comes is little. A process on its own never does: there, a sample would only come later.
"""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaException

ENOUGH_ROWS = 2_000
"""Rows that are worth a transaction: at 30 us of CPU each, its own price is then less than a tenth."""

MOST_INTERVALS = 3
"""With the default interval, samples wait for 0.75 s at most: at the event stream they are still less than a second old in the median."""

_ANSWER_S = 5.0


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

    def __init__(self, interval_s: float, topic: str) -> None:
        self._interval_s = interval_s
        self._topic = topic
        self._rows_per_s = 0.0
        self._assigned: int | None = None
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
        """Look how many partitions this process has; the broker is asked only after that has changed."""
        assigned = sum(one.topic == self._topic for one in consumer.assignment())
        if assigned == self._assigned:
            return
        try:
            all_of_them = len(consumer.list_topics(self._topic, timeout=_ANSWER_S).topics[self._topic].partitions)
        except KafkaException:
            return  # the broker does not answer: asked again at the next look
        self._assigned = assigned
        self.processes = max(1, all_of_them // assigned) if assigned else 1
