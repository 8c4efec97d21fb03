"""One batch of ingest: from Kafka messages to encoded rows, findings, news for `rnic_state`, rejected messages and offsets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import psycopg

from wallwatch.domain.isolation import messages as isolation_messages
from wallwatch.domain.symptoms.decode_finding import decode_finding
from wallwatch.domain.telemetry.decode import Decoded, Refused, Sender, decode
from wallwatch.domain.telemetry.registry import Measurement, measurements, stored_measurements, topics
from wallwatch.jobs.dead_letter import Rejected, rejected
from wallwatch.jobs.ingest_forecasts import TOPIC as FORECASTS_TOPIC
from wallwatch.jobs.ingest_forecasts import StoredForecast, decode_forecast
from wallwatch.jobs.ingest_isolation import StoredIsolation
from wallwatch.jobs.metrics import UNKNOWN_FIELDS
from wallwatch.store.encode import Encoded, Sample, TableEncoder
from wallwatch.store.identities import Identities
from wallwatch.store.state import News, StoredFinding

T = TypeVar("T")

FINDINGS_TOPIC = "wallwatch.findings"

TELEMETRY_TOPICS: dict[str, str] = {
    t.name: t.measurement for t in topics().values() if t.measurement is not None and t.measurement in stored_measurements()
}
"""The measurement of each topic that `ingest` stores; the others are read by their job only."""


@dataclass(slots=True)
class Batch:
    """What one transaction writes."""

    tables: dict[str, Encoded] = field(default_factory=dict)
    findings: list[StoredFinding] = field(default_factory=list)
    forecasts: list[StoredForecast] = field(default_factory=list)
    isolation: list[StoredIsolation] = field(default_factory=list)
    news: News = field(default_factory=News)
    rejected: list[Rejected] = field(default_factory=list)
    offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    """(topic, partition) -> offset of the next message."""
    messages: int = 0


class BatchBuilder:
    """Turns messages into batches. `with_database` runs a function with a connection and waits while the database is unreachable."""

    def __init__(
        self,
        identities: Identities,
        with_database: Callable[[Callable[[psycopg.Connection[Any]], None]], None],
        future_ns: int,
        on_decoded: Callable[[str, Iterable[Decoded]], None] = lambda measurement, messages: None,
        sender: Callable[[bytes | None], Sender | None] = lambda record_key: None,
    ) -> None:
        self._sender = sender
        self._on_decoded = on_decoded
        self._identities = identities
        self._with_database = with_database
        self._future_ns = future_ns
        self._measurements = {topic: measurements()[name] for topic, name in TELEMETRY_TOPICS.items()}
        self._encoders = {
            name: TableEncoder(m, f"{m.of}_id", m.text_columns, m.number_columns) for name, m in stored_measurements().items()
        }

    def add(self, batch: Batch, messages: Iterable[Any]) -> None:
        """Decode, identify and encode a few hundred messages; unusable ones go to `rejected`, the rest is kept."""
        by_topic: dict[str, list[Any]] = {}
        for message in messages:
            topic, partition = message.topic(), message.partition()
            by_topic.setdefault(topic, []).append(message)
            batch.offsets[topic, partition] = max(batch.offsets.get((topic, partition), 0), message.offset() + 1)
            batch.messages += 1
        latest_ns = time.time_ns() + self._future_ns
        for topic, group in by_topic.items():
            if topic == FINDINGS_TOPIC:
                self._findings(batch, group)
            elif topic == FORECASTS_TOPIC:
                self._forecasts(batch, group)
            elif topic == isolation_messages.TOPIC:
                self._isolation(batch, group, latest_ns)
            else:
                self._telemetry(batch, topic, group, latest_ns)

    def _telemetry(self, batch: Batch, topic: str, group: list[Any], latest_ns: int) -> None:
        measurement = self._measurements[topic]
        decoded: list[tuple[Any, Decoded]] = []
        for message in group:
            try:
                decoded.append((message, decode(message.value(), measurement, latest_ns, self._sender(message.key()))))
            except Refused as refusal:
                batch.rejected.append(rejected(message, refusal.reason, str(refusal)))
        self._on_decoded(measurement.name, (d for _, d in decoded))
        samples = (self._rnic_samples if measurement.of == "rnic" else self._host_samples)(measurement, decoded)
        table = batch.tables.get(measurement.table)
        unknown_before, refused_before = (0, 0) if table is None else (table.unknown_fields, len(table.refused))
        table = batch.tables[measurement.table] = self._encoders[measurement.name].encode(samples, table)
        refused = table.refused[refused_before:]
        batch.rejected.extend(rejected(sample.source, reason, detail) for sample, reason, detail in refused)
        if table.unknown_fields > unknown_before:
            UNKNOWN_FIELDS.labels(topic).inc(table.unknown_fields - unknown_before)
        self._news(batch, measurement.name, samples, {id(sample) for sample, _, _ in refused})

    def _rnic_samples(self, measurement: Measurement, decoded: list[tuple[Any, Decoded]]) -> list[Sample]:
        known = self._identities.rnics
        full = measurement.name == "rnic"
        wanted: dict[tuple[str, str], Mapping[str, str]] = {}
        for _, d in decoded:
            key = (d.tags["host"], d.tags["pci"])
            found = known.get(key)
            if found is None or (full and found.tags != d.tags):
                wanted[key] = d.tags
        if wanted:
            self._with_database(lambda connection: self._identities.upsert_rnics(connection, wanted, full))
        keys, numbers = measurement.text_columns, measurement.number_columns
        return [
            Sample(
                known[d.tags["host"], d.tags["pci"]].rnic_id,
                d.at_ns,
                tuple(d.tags.get(k, "") for k in keys),
                d.fields,
                message,
                tuple(int(d.tags[n]) for n in numbers),
            )
            for message, d in decoded
        ]

    def _host_samples(self, measurement: Measurement, decoded: list[tuple[Any, Decoded]]) -> list[Sample]:
        known = self._identities.hosts
        wanted = {d.tags["host"]: d.tags.get("rack", "") for _, d in decoded if d.tags["host"] not in known}
        if wanted:
            self._with_database(lambda connection: self._identities.upsert_hosts(connection, wanted))
        keys = measurement.text_columns
        return [Sample(known[d.tags["host"]], d.at_ns, tuple(d.tags.get(k, "") for k in keys), d.fields, message) for message, d in decoded]

    @staticmethod
    def _news(batch: Batch, name: str, samples: list[Sample], refused: set[int]) -> None:
        newest = batch.news.rates if name == "rnic" else batch.news.offload if name == "rnic_offload" else None
        if newest is None:
            return
        for sample in samples:
            before = newest.get(sample.identity)
            if (before is None or sample.at_ns >= before[0]) and not (refused and id(sample) in refused):
                newest[sample.identity] = (sample.at_ns, sample.fields)

    def _findings(self, batch: Batch, group: list[Any]) -> None:
        decoded: list[dict[str, Any]] = []
        for message in group:
            try:
                decoded.append(decode_finding(message.value()))
            except Refused as refusal:
                batch.rejected.append(rejected(message, refusal.reason, str(refusal)))
        known = self._identities.rnics
        rnics = {(f["host"], f["pci"]): {"rack": f["rack"]} for f in decoded if f["pci"] and (f["host"], f["pci"]) not in known}
        if rnics:
            self._with_database(lambda connection: self._identities.upsert_rnics(connection, rnics, full=False))
        hosts = {f["host"]: f["rack"] for f in decoded if f["host"] not in self._identities.hosts}
        if hosts:
            self._with_database(lambda connection: self._identities.upsert_hosts(connection, hosts))
        for f in decoded:
            rnic = known[f["host"], f["pci"]].rnic_id if f["pci"] else None
            shown = self._identities.of_host.get(f["host"], []) if f["blast_radius"] == "host" else [rnic] if rnic is not None else []
            batch.findings.append(StoredFinding(rnic, self._identities.hosts[f["host"]], tuple(shown), f))

    def _forecasts(self, batch: Batch, group: list[Any]) -> None:
        decoded: list[dict[str, Any]] = []
        for message in group:
            try:
                decoded.append(decode_forecast(message.value()))
            except Refused as refusal:
                batch.rejected.append(rejected(message, refusal.reason, str(refusal)))
        known = self._identities.rnics
        wanted = {(f["host"], f["pci"]): {"rack": str(f.get("rack") or "")} for f in decoded if (f["host"], f["pci"]) not in known}
        if wanted:
            self._with_database(lambda connection: self._identities.upsert_rnics(connection, wanted, full=False))
        for f in decoded:
            batch.forecasts.append(StoredForecast(known[f["host"], f["pci"]].rnic_id, datetime.fromisoformat(f["at"]), f))

    def _isolation(self, batch: Batch, group: list[Any], latest_ns: int) -> None:
        latest = datetime.fromtimestamp(latest_ns / 1e9, UTC)
        decoded: list[isolation_messages.IsolationMessage] = []
        for message in group:
            try:
                decoded.append(isolation_messages.decode(message.value(), latest))
            except Refused as refusal:
                batch.rejected.append(rejected(message, refusal.reason, str(refusal)))
        known = self._identities.rnics
        wanted = {(m.host, m.pci): {"rack": m.rack} for m in decoded if (m.host, m.pci) not in known}
        if wanted:
            self._with_database(lambda connection: self._identities.upsert_rnics(connection, wanted, full=False))
        batch.isolation += [StoredIsolation(known[m.host, m.pci].rnic_id, m) for m in decoded]
