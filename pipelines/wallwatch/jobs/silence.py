"""Silent hosts, inside the job `ingest`: it sees every message of its hosts, and reads from the database what other processes see.

`domain/symptoms/silence` decides. Findings go to Kafka like those of `classify`. Several processes may follow the same host, and a
restarted process resumes from the database; their findings have the same id, because a silence begins with the host's last sample in
the store.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import orjson
import psycopg
from confluent_kafka import Producer

from wallwatch.domain.symptoms import silence
from wallwatch.domain.telemetry.decode import Decoded, Message
from wallwatch.jobs import kafka
from wallwatch.jobs.metrics import FINDINGS

CHECK_EVERY_S = 5.0

SOURCES = frozenset({"rnic", "rnic_offload", "ovs_datapath", "event"})

_KNOWN = """
SELECT host, max(rack), max(seen_at) FROM rnic_state WHERE seen_at IS NOT NULL GROUP BY host
"""

_LASTING = """
SELECT DISTINCT ON (host) host, symptoms -> 'silent' ->> 'since', symptoms -> 'silent' ->> 'severity' FROM rnic_state
WHERE symptoms ? 'silent' AND symptoms -> 'silent' ->> 'until' IS NULL
"""

_SEEN = "SELECT host, max(seen_at) FROM rnic_state WHERE host = ANY(%s) AND seen_at IS NOT NULL GROUP BY host"

WithDatabase = Callable[[Callable[[psycopg.Connection[Any]], None]], None]


class SilenceWatch:
    """Follows the hosts: call `on_decoded` with every message and `check` in the reading loop."""

    def __init__(self, producer: Producer, topic: str, with_database: WithDatabase) -> None:
        self._producer = producer
        self._topic = topic
        self._with_database = with_database
        self._watch = silence.new()
        self._next_s = 0.0

    def load(self, connection: psycopg.Connection[Any]) -> None:
        """Start with the known hosts and the silences that have not ended."""
        known_hosts = connection.execute(_KNOWN).fetchall()
        newest_ms = max((_ms(seen_at) for _, _, seen_at in known_hosts), default=0)
        for host, rack, seen_at in known_hosts:
            if newest_ms - _ms(seen_at) > silence.FORGOTTEN_S * 1000:
                continue
            silence.known(self._watch, host, rack or "", _ms(seen_at))
        for host, since, severity in connection.execute(_LASTING):
            known = self._watch["hosts"].get(host)
            if known is not None:
                silence.resume(known, _ms(datetime.fromisoformat(since)), severity != "critical")

    def on_decoded(self, measurement: str, messages: Iterable[Decoded]) -> None:
        """Note messages of one topic."""
        if measurement not in SOURCES:
            return
        last: dict[str, tuple[int, str]] = {}
        for tags, at_ns, fields in messages:
            # The RNICs of a host send at the same time; to the watch, the second of two equal reports says nothing.
            host, report = tags["host"], (at_ns // 1_000_000, tags.get("rack", ""))
            if last.get(host) == report and measurement != "event":
                continue
            last[host] = report
            silence.take(self._watch, Message(measurement, tags, at_ns, fields))

    def check(self) -> None:
        """Send changes to Kafka every few seconds."""
        now_s = time.monotonic()
        if now_s < self._next_s:
            self._producer.poll(0)
            return
        self._next_s = now_s + CHECK_EVERY_S
        overdue = silence.overdue(self._watch)
        if overdue:
            self._ask(overdue)
        for finding in silence.check(self._watch):
            FINDINGS.labels(finding["symptom"], finding["state"]).inc()
            kafka.produce(self._producer, self._topic, finding["host"], orjson.dumps(finding))
        self._producer.poll(0)

    def close(self) -> None:
        """Send queued findings."""
        self._producer.flush(5.0)

    def _ask(self, hosts: list[str]) -> None:
        """Look the hosts up in the database: another process may receive samples that this one does not."""
        seen: dict[str, datetime] = {}

        def read(connection: psycopg.Connection[Any]) -> None:
            seen.clear()
            seen.update(connection.execute(_SEEN, [hosts]).fetchall())

        self._with_database(read)
        for host, at in seen.items():
            silence.seen_elsewhere(self._watch, host, _ms(at))


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
