"""The SLO classes and rules in the store, which the job `isolation` follows."""

from __future__ import annotations

import logging
import threading
from typing import Any

import psycopg

from wallwatch.domain.isolation.assignment import Book, Condition, Rule, slo_of
from wallwatch.domain.isolation.slo import Slo
from wallwatch.store.watcher import Watcher

log = logging.getLogger(__name__)

SLO_EVERY_S = 3.0

_CLASSES = "SELECT name, min_mbps, max_mbps, p50_us, p99_us, loss FROM slo_class"
_RULES = "SELECT matchers, slo_class FROM slo_rule ORDER BY position"


def read_book(connection: psycopg.Connection[Any]) -> Book:
    """The SLO classes and rules in the database."""
    classes: dict[str, Slo] = {name: slo_of(*values) for name, *values in connection.execute(_CLASSES)}
    rules = [
        Rule(tuple(Condition(one["name"], one["op"], one["value"]) for one in matchers), slo_class)
        for matchers, slo_class in connection.execute(_RULES)
    ]
    return Book(classes, tuple(rules))


class SloWatcher(Watcher):
    """Keeps the newest classes and rules in `book`."""

    def __init__(self, libpq_url: str, stop: threading.Event, every_s: float = SLO_EVERY_S) -> None:
        super().__init__("SLO classes and rules", libpq_url, stop, every_s)
        self.book = Book()

    def read(self, connection: psycopg.Connection[Any]) -> bool:
        found = read_book(connection)
        if found == self.book:
            return False
        self.book = found
        log.info("SLO: %d classes, %d rules", len(found.classes), len(found.rules))
        return True
