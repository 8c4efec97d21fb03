"""Which pod holds which VF, and the RNICs' models, as the job `isolation` follows them in the store."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from wallwatch.domain.isolation.holders import Holder, Holders
from wallwatch.domain.telemetry.shared_text import shared_text
from wallwatch.store.vf_numbers import Device, VfNumbers
from wallwatch.store.watcher import Watcher

HOLDERS_EVERY_S = 3.0
RNICS_EVERY_S = 60.0
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
READ_AT_ONCE = timedelta(hours=1)
"""Of a longer time, each part is a transaction of its own: a snapshot that is kept for long keeps the tables from being cleaned."""
BATCH = 1_000
"""Events in memory at a time: about 1 MB."""

# The newest ADD of each function that no DEL of it followed, and events that may release functions without naming them.
_HELD = """
WITH newest AS (
  SELECT DISTINCT ON (e.host_id, e.other->>'device') e.host_id, e.time, e.pci, e.kind, e.other FROM event e
  WHERE e.kind IN ('cni_add', 'cni_del') AND e.other->>'device' IS NOT NULL AND e.other->>'result' IS DISTINCT FROM 'refused'
  ORDER BY e.host_id, e.other->>'device', e.time DESC
)
SELECT time, host, pci, kind, other FROM (
  SELECT * FROM newest WHERE kind = 'cni_add'
  UNION ALL
  SELECT e.host_id, e.time, e.pci, e.kind, e.other FROM event e
  WHERE e.kind IN ('cni_del', 'host_booted') AND e.other->>'device' IS NULL
) AS known JOIN host USING (host_id) ORDER BY time
"""
# The kinds are literals, so that the planner can use the partial index event_container_time.
_RECENT = """
SELECT e.time, h.host, e.pci, e.kind, e.other FROM event e JOIN host h USING (host_id)
WHERE e.kind IN ('cni_add', 'cni_del', 'host_booted') AND e.time >= %s AND e.time < %s ORDER BY e.time
"""
_RNICS = "SELECT host, pci, rack, model FROM rnic"


class HolderWatcher(Watcher):
    """Knows who holds the functions, from the events of the CNI chain, with the models of RNICs and the numbers of VFs.

    Events are applied as they are read, a few at a time, so the memory does not depend on how many there are. What the job's own thread
    asks for is as new as the last read; `take_changed` says what is worth asking again.
    """

    def __init__(self, libpq_url: str, stop: threading.Event, every_s: float = HOLDERS_EVERY_S) -> None:
        super().__init__("pods that hold VFs", libpq_url, stop, every_s)
        self._lock = threading.Lock()
        self._holders = Holders()
        self._numbers = VfNumbers()
        self._changed: set[str] = set()
        self._begun = False
        self._due_s = _next_due(time.monotonic())
        self._read_s = self._day_read_s = time.monotonic()
        self._late_until_s = 0.0
        self._rnics: dict[tuple[str, str], tuple[str, str]] = {}
        self._racks_and_models: dict[tuple[str, str], tuple[str, str]] = {}
        """The pairs that RNICs have, each once."""
        self._rnics_due_s = 0.0

    def read(self, connection: psycopg.Connection[Any]) -> bool:
        now, monotonic_s = datetime.now(UTC), time.monotonic()
        if not self._begun:
            count = self._hear(connection, _HELD, ())
            self._day_read_s = monotonic_s
        else:
            if monotonic_s - self._read_s > UNREACHABLE_S:
                self.expect_late()
            if monotonic_s < self._late_until_s:
                self._due_s[0] = min(self._due_s[0], self._day_read_s + DAY_AFTER_S)
            longest = next((i for i, due_s in enumerate(self._due_s) if monotonic_s >= due_s), len(OVERLAPS) - 1)
            count = self._hear_since(connection, now - OVERLAPS[longest][0], now)
            self._due_s[longest:] = _next_due(monotonic_s)[longest:]
            if longest == 0:
                self._day_read_s = monotonic_s
                self._forget(now - OVERLAPS[0][0])
        self._begun = True
        self._read_s = monotonic_s
        self._number(connection, now)
        if time.monotonic() >= self._rnics_due_s:
            self._read_rnics(connection)
            self._rnics_due_s = time.monotonic() + RNICS_EVERY_S
        return count > 0

    def _hear_since(self, connection: psycopg.Connection[Any], since: datetime, now: datetime) -> int:
        """Hear the events since a time, also those of hosts whose clock is ahead; returns how many there were."""
        count = 0
        while since + READ_AT_ONCE < now:
            count += self._hear(connection, _RECENT, (since, since + READ_AT_ONCE))
            since += READ_AT_ONCE
        return count + self._hear(connection, _RECENT, (since, "infinity"))

    def _hear(self, connection: psycopg.Connection[Any], statement: str, values: tuple[object, ...]) -> int:
        count = 0
        with connection.transaction(), connection.cursor("pods") as cursor:
            cursor.execute(statement, values)
            while rows := cursor.fetchmany(BATCH):
                count += len(rows)
                with self._lock:
                    for at, host, pci, kind, fields in rows:
                        self._holders.hear(round(at.timestamp() * 1e6), host, pci, kind, fields or {})
                        self._want(host, kind, fields or {})
        return count

    def _want(self, host: str, kind: str, fields: Mapping[str, Any]) -> None:
        device = fields.get("device")
        if kind == "cni_add" and isinstance(device, str) and (holder := self._holders.held(host, device)) is not None:
            self._numbers.want(Device(shared_text(host), holder.pci, shared_text(device)))

    def _number(self, connection: psycopg.Connection[Any], now: datetime) -> None:
        held = []
        for device in self._numbers.wanted:
            holder = self._holders.held(device.host, device.device)
            if holder is not None and holder.pci == device.pci:
                held.append(device)
        numbered = self._numbers.read(connection, now, held)
        with self._lock:
            self._changed |= numbered

    def _forget(self, before: datetime) -> None:
        """Forget functions that nobody has held since this time: no older event is read any more."""
        with self._lock:
            self._numbers.forget(self._holders.forget(round(before.timestamp() * 1e6)))

    def _read_rnics(self, connection: psycopg.Connection[Any]) -> None:
        """Read racks and models; what is known already stays as it is."""
        found: set[tuple[str, str]] = set()
        with connection.transaction(), connection.cursor("rnics") as cursor:
            cursor.execute(_RNICS)
            while rows := cursor.fetchmany(BATCH):
                for host, pci, rack, model in rows:
                    place, known = (shared_text(host), shared_text(pci)), (rack or "", model or "")
                    found.add(place)
                    if self._rnics.get(place) != known:
                        self._rnics[place] = self._racks_and_models.setdefault(known, known)
        for place in self._rnics.keys() - found:
            del self._rnics[place]

    def expect_late(self) -> None:
        """Read events of the last day more often for an hour. Cheap: to be called for each late sample."""
        self._late_until_s = time.monotonic() + OVERLAPS[0][1]

    def take_changed(self) -> set[str]:
        """Hosts with other holders, or other numbers of functions, since the last call."""
        with self._lock:
            taken = self._changed | self._holders.changed
            self._changed, self._holders.changed = set(), set()
        return taken

    def held(self, host: str, pci: str) -> dict[int, Holder]:
        """Who holds the functions of an RNIC, by their numbers; functions that were never sampled are not among them."""
        with self._lock:
            return {
                number: holder
                for device, holder in self._holders.of_host(host).items()
                if holder.pci == pci and (number := self._numbers.of(Device(host, pci, device))) is not None
            }

    def rnic(self, host: str, pci: str) -> tuple[str, str]:
        """Rack and model; empty where unknown."""
        return self._rnics.get((host, pci), ("", ""))


def _next_due(now_s: float) -> list[float]:
    """When events are read again, by how old they may be."""
    return [now_s + every_s for _, every_s in OVERLAPS]
