"""The table `dead_letter_count`: how many messages were refused, by topic and reason."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import psycopg

MOST_DETAIL = 500
_ADD = """
INSERT INTO dead_letter_count AS d (topic, reason, count, last_at, last_detail) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (topic, reason) DO UPDATE SET count = d.count + excluded.count, last_at = greatest(d.last_at, excluded.last_at),
  last_detail = excluded.last_detail
"""


class Refusal(NamedTuple):
    """A message that was refused: why, as a short code and as a sentence."""

    topic: str
    reason: str
    detail: str


class RefusalCounts:
    """Refusals that are to be added to the table: one row per topic and reason, however many there are.

    >>> counts = RefusalCounts()
    >>> counts.take([Refusal("t", "not_json", "a"), Refusal("t", "not_json", "b"), Refusal("t", "empty", "c")])
    >>> sorted((topic, reason, count, detail) for (topic, reason), (count, _, detail) in counts.rows.items())
    [('t', 'empty', 1, 'c'), ('t', 'not_json', 2, 'b')]
    """

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], tuple[int, datetime, str]] = {}

    def take(self, refusals: Iterable[Refusal]) -> None:
        """Add refusals of now."""
        for topic, reason, detail in refusals:
            count = self.rows.get((topic, reason), (0,))[0]
            self.rows[topic, reason] = (count + 1, datetime.now(UTC), detail[:MOST_DETAIL].replace("\0", ""))

    def write(self, connection: psycopg.Connection[Any]) -> None:
        """Add them to the table, in an order in which two processes cannot block each other."""
        for (topic, reason), (count, at, detail) in sorted(self.rows.items()):
            connection.execute(_ADD, [topic, reason, count, at, detail])
