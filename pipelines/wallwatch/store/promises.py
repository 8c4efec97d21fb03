"""What the job `isolation` follows in the store: SLO classes and rules, the RNICs' models, and which pod holds which VF."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import psycopg

from wallwatch.domain.isolation.assignment import Book, Condition, Rule, slo_of
from wallwatch.domain.isolation.slo import Slo
from wallwatch.store.events import StoredEvent
from wallwatch.store.watcher import Watcher

log = logging.getLogger(__name__)

SLO_EVERY_S = 3.0
HOLDERS_EVERY_S = 3.0
RNICS_EVERY_S = 60.0
SOUGHT_EVERY_S = 15.0
"""How often functions are looked for that were not sampled yet; collectors sample them once in an interval."""
OVERLAPS = (
    (timedelta(days=1), 3_600.0),
    (timedelta(minutes=10), 120.0),
    (timedelta(minutes=1), 15.0),
    (timedelta(seconds=20), HOLDERS_EVERY_S),
)
"""How old the events are that are read again, and how often: collectors may deliver them late, even by hours, but rarely do. So each event
is read some 40 times; pods of a large fleet that live for minutes make hundreds in a second."""
DAY_AFTER_S = 600.0
"""How often those of the last day are read for an hour after hosts or the database were unreachable: then many come late."""
UNREACHABLE_S = 60.0
"""If the database did not answer for this long, `ingest` has yet to store what came meanwhile."""
SAMPLED_LATELY = timedelta(minutes=10)
"""A function that was sought in all samples may have been sampled this long ago by now."""

SAMPLED_WITHIN = timedelta(days=7)
"""A function's number comes from a sample at most this old."""

_CLASSES = "SELECT name, min_mbps, max_mbps, p50_us, p99_us, loss FROM slo_class"
_RULES = "SELECT matchers, slo_class FROM slo_rule ORDER BY position"
_HELD = """
WITH newest AS (
  SELECT DISTINCT ON (e.host_id, e.other->>'device') e.host_id, e.time, e.pci, e.kind, e.other FROM event e
  WHERE e.kind IN ('cni_add', 'cni_del') AND e.other->>'device' IS NOT NULL AND e.other->>'result' IS DISTINCT FROM 'refused'
  ORDER BY e.host_id, e.other->>'device', e.time DESC
)
SELECT n.time, h.host, n.pci, n.kind, n.other FROM newest n JOIN host h USING (host_id) WHERE n.kind = 'cni_add'
"""
_TAKEN = """
SELECT e.time, h.host, e.pci, e.kind, e.other FROM event e JOIN host h USING (host_id)
WHERE e.kind IN ('cni_del', 'host_booted') AND e.other->>'device' IS NULL ORDER BY e.time
"""
# The kinds are literals, so that the planner can use the partial index event_container_time.
_RECENT = """
SELECT e.time, h.host, e.pci, e.kind, e.other FROM event e JOIN host h USING (host_id)
WHERE e.kind IN ('cni_add', 'cni_del', 'host_booted') AND e.time >= %s ORDER BY e.time
"""
_RNICS = "SELECT host, pci, rack, model FROM rnic"
_NUMBERS = """
SELECT w.host, w.pci, w.device, v.vf FROM unnest(%(hosts)s::text[], %(pcis)s::text[], %(devices)s::text[]) AS w (host, pci, device)
JOIN rnic r ON r.host = w.host AND r.pci = w.pci
CROSS JOIN LATERAL (
  SELECT s.vf FROM vf_sample s WHERE s.rnic_id = r.rnic_id AND s.vf_pci = w.device AND s.time > %(since)s ORDER BY s.time DESC LIMIT 1
) v
"""
# Packed hours are read for functions without a row, once for all of an RNIC.
_PACKED_NUMBERS = """
WITH wanted AS (
  SELECT host, pci, array_agg(device) AS devices
  FROM unnest(%(hosts)s::text[], %(pcis)s::text[], %(devices)s::text[]) AS w (host, pci, device) GROUP BY host, pci
)
SELECT w.host, w.pci, v.vf_pci, v.vf FROM wanted w JOIN rnic r ON r.host = w.host AND r.pci = w.pci
CROSS JOIN LATERAL (
  SELECT DISTINCT ON (s.vf_pci) s.vf_pci, s.vf FROM vf_sample_all s
  WHERE s.rnic_id = r.rnic_id AND s.vf_pci = ANY (w.devices) AND s.time > %(since)s AND s.hour > %(since)s - INTERVAL '1 hour'
  ORDER BY s.vf_pci, s.time DESC
) v
"""


def _numbers(connection: psycopg.Connection[Any], statement: str, wanted: Iterable[Device], since: datetime) -> dict[Device, int]:
    hosts, pcis, devices = map(list, zip(*wanted, strict=True))
    values = {"hosts": hosts, "pcis": pcis, "devices": devices, "since": since}
    return {Device(*row[:3]): row[3] for row in connection.execute(statement, values)}


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


class Device(NamedTuple):
    """A virtual function by its PCI address, with the RNIC that it belongs to."""

    host: str
    pci: str
    device: str


class HolderWatcher(Watcher):
    """Queues events of the CNI chain, models of RNICs and numbers of VFs for the job's own thread, which takes them with `take`."""

    def __init__(self, libpq_url: str, stop: threading.Event, every_s: float = HOLDERS_EVERY_S) -> None:
        super().__init__("pods that hold VFs", libpq_url, stop, every_s)
        self._events: deque[StoredEvent] = deque()
        self._begun = False
        self._due_s = _next_due(time.monotonic())
        self._read_s = self._day_read_s = time.monotonic()
        self._late_until_s = 0.0
        self._numbers: dict[Device, int] = {}
        self._numbered: deque[str] = deque()
        self._wanted: set[Device] = set()
        self._sought: set[Device] = set()
        """Functions without a number that were looked for in all samples: from now on, new samples are enough."""
        self._sought_due_s = 0.0
        self._rnics: dict[tuple[str, str], tuple[str, str]] = {}
        self._rnics_due_s = 0.0

    def read(self, connection: psycopg.Connection[Any]) -> bool:
        now, monotonic_s = datetime.now(UTC), time.monotonic()
        if not self._begun:
            events = _held(connection)
            self._day_read_s = monotonic_s
        else:
            if monotonic_s - self._read_s > UNREACHABLE_S:
                self.expect_late()
            if monotonic_s < self._late_until_s:
                self._due_s[0] = min(self._due_s[0], self._day_read_s + DAY_AFTER_S)
            longest = next((i for i, due_s in enumerate(self._due_s) if monotonic_s >= due_s), len(OVERLAPS) - 1)
            events = _events(connection.execute(_RECENT, [now - OVERLAPS[longest][0]]))
            self._due_s[longest:] = _next_due(monotonic_s)[longest:]
            if longest == 0:
                self._day_read_s = monotonic_s
        self._begun = True
        self._read_s = monotonic_s
        self._events.extend(events)
        self._wanted |= {Device(e.host, e.pci, str(e.fields["device"])) for e in events if e.kind == "cni_add" and e.fields.get("device")}
        self._number(connection, now)
        if time.monotonic() >= self._rnics_due_s:
            self._rnics = {(host, pci): (rack or "", model or "") for host, pci, rack, model in connection.execute(_RNICS)}
            self._rnics_due_s = time.monotonic() + RNICS_EVERY_S
        return bool(events)

    def _number(self, connection: psycopg.Connection[Any], now: datetime) -> None:
        """Ask which number the functions have that are held; a function that was never sampled is asked for again."""
        self._wanted -= self._numbers.keys()
        found: dict[Device, int] = {}
        monotonic_s = time.monotonic()
        again = self._wanted & self._sought if monotonic_s >= self._sought_due_s else set()
        if again:
            self._sought_due_s = monotonic_s + SOUGHT_EVERY_S
        for wanted, since in ((self._wanted - self._sought, now - SAMPLED_WITHIN), (again, now - SAMPLED_LATELY)):
            if wanted:
                found |= _numbers(connection, _NUMBERS, wanted, since)
        if missing := self._wanted - self._sought - found.keys():
            found |= _numbers(connection, _PACKED_NUMBERS, missing, now - SAMPLED_WITHIN)
        self._wanted -= found.keys()
        self._sought = set(self._wanted)
        if found:
            self._numbers = {**self._numbers, **found}  # replaced as a whole: the job's thread reads it
            self._numbered.extend({device.host for device in found})

    def expect_late(self) -> None:
        """Read events of the last day more often for an hour. Cheap: to be called for each late sample."""
        self._late_until_s = time.monotonic() + OVERLAPS[0][1]

    def take(self) -> list[StoredEvent]:
        """The events since the last call, in order of their times; events may come again."""
        taken: list[StoredEvent] = []
        while self._events:
            taken.append(self._events.popleft())
        return taken

    def number_of(self, device: Device) -> int | None:
        """The number of a function; None until it has been sampled."""
        return self._numbers.get(device)

    def take_numbered(self) -> set[str]:
        """Hosts of the functions whose number was found since the last call."""
        taken: set[str] = set()
        while self._numbered:
            taken.add(self._numbered.popleft())
        return taken

    def rnic(self, host: str, pci: str) -> tuple[str, str]:
        """Rack and model; empty where unknown."""
        return self._rnics.get((host, pci), ("", ""))


def _next_due(now_s: float) -> list[float]:
    """When events are read again, by how old they may be."""
    return [now_s + every_s for _, every_s in OVERLAPS]


def _held(connection: psycopg.Connection[Any]) -> list[StoredEvent]:
    """The newest ADD of each function that no DEL of it followed, and events that may release functions without naming them."""
    return sorted(_events([*connection.execute(_HELD), *connection.execute(_TAKEN)]), key=lambda event: event.at_us)


def _events(rows: Iterable[tuple[Any, ...]]) -> list[StoredEvent]:
    return [StoredEvent(round(at.timestamp() * 1e6), host, pci, kind, fields or {}) for at, host, pci, kind, fields in rows]
