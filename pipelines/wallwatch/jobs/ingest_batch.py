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
from wallwatch.domain.telemetry import blocks
from wallwatch.domain.telemetry.decode import Decoded, Refused, Sender, decode, proves
from wallwatch.domain.telemetry.registry import Measurement, measurements, stored_measurements, topics
from wallwatch.jobs.dead_letter import Rejected, rejected
from wallwatch.jobs.ingest_blocks import BlockSamples
from wallwatch.jobs.ingest_forecasts import TOPIC as FORECASTS_TOPIC
from wallwatch.jobs.ingest_forecasts import StoredForecast, decode_forecast
from wallwatch.jobs.ingest_isolation import StoredIsolation
from wallwatch.jobs.late_minutes import late_minute
from wallwatch.jobs.metrics import UNKNOWN_FIELDS
from wallwatch.store import admission
from wallwatch.store.admission import Admission
from wallwatch.store.block_columns import Known, ScannedBlocks
from wallwatch.store.column_encoder import ColumnEncoder, Scanned
from wallwatch.store.encode import Encoded, LateRnics, Sample, TableEncoder
from wallwatch.store.identities import Identities
from wallwatch.store.state import SHOWN_FIELDS, News, StoredFinding

T = TypeVar("T")

FINDINGS_TOPIC = "wallwatch.findings"

REFUSED = -1
"""In place of the number of an RNIC that its host may not register (`store/admission`)."""

_NO_FIELDS: dict[str, Any] = {}
"""Of messages that are read in columns: who hears of them does not look at their fields."""

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
    samples: int = 0
    """What the messages have: one each, or the rows of a block."""


class BatchBuilder:
    """Turns messages into batches. `with_database` runs a function with a connection and waits while the database is unreachable.

    Without `in_columns`, every message takes the reference path: tests and benchmarks compare the two.
    """

    def __init__(
        self,
        identities: Identities,
        with_database: Callable[[Callable[[psycopg.Connection[Any]], None]], None],
        future_ns: int,
        on_decoded: Callable[[str, Iterable[Decoded]], None] = lambda measurement, messages: None,
        sender: Callable[[bytes | None], Sender | None] = lambda record_key: None,
        in_columns: bool = True,
    ) -> None:
        self._sender = sender
        self._on_decoded = on_decoded
        self._identities = identities
        self._admission = Admission(identities, with_database)
        self._with_database = with_database
        self._future_ns = future_ns
        self._measurements = {topic: measurements()[name] for topic, name in TELEMETRY_TOPICS.items()}
        self._encoders = {
            name: TableEncoder(m, f"{m.of}_id", m.text_columns, m.number_columns) for name, m in stored_measurements().items()
        }
        self._columns = {name: ColumnEncoder(m, self._encoders[name], learns=in_columns) for name, m in stored_measurements().items()}
        self._blocks = BlockSamples(self._store, self._store_parts, sender, in_columns)

    def add(self, batch: Batch, messages: Iterable[Any]) -> None:
        """Decode, identify and encode a few hundred messages; unusable ones go to `rejected`, the rest is kept."""
        by_topic: dict[str, list[Any]] = {}
        for message in messages:
            topic, partition = message.topic(), message.partition()
            by_topic.setdefault(topic, []).append(message)
            batch.offsets[topic, partition] = max(batch.offsets.get((topic, partition), 0), message.offset() + 1)
            batch.messages += 1
            batch.samples += topic != blocks.TOPIC
        latest_ns = time.time_ns() + self._future_ns
        for topic, group in by_topic.items():
            if topic == FINDINGS_TOPIC:
                self._findings(batch, group)
            elif topic == FORECASTS_TOPIC:
                self._forecasts(batch, group)
            elif topic == isolation_messages.TOPIC:
                self._isolation(batch, group, latest_ns)
            elif topic == blocks.TOPIC:
                self._blocks.add(batch, group, latest_ns)
            else:
                self._telemetry(batch, topic, group, latest_ns)

    def _telemetry(self, batch: Batch, topic: str, group: list[Any], latest_ns: int) -> None:
        """Store messages of one topic: what can be read in columns so, the others one by one. Their order is the same either way."""
        measurement = self._measurements[topic]
        shaped = self._in_columns(self._columns[measurement.name], group, latest_ns)
        seen: list[Decoded | None] = [None] * len(group)
        for scanned in shaped:
            for place, origin, at_ns in zip(scanned.places, scanned.origins, scanned.times_ns.tolist(), strict=True):
                seen[place] = Decoded(origin.tags, at_ns, _NO_FIELDS)
        one_by_one = [place for place, decoded in enumerate(seen) if decoded is None]
        for place in one_by_one:
            seen[place] = self._decoded(batch, measurement, group[place], latest_ns)
        good = self._store(batch, topic, measurement, seen, shaped, one_by_one, group.__getitem__)
        if good is not None:
            self._columns[measurement.name].learn(good.fields)

    def _store(
        self,
        batch: Batch,
        topic: str,
        measurement: Measurement,
        seen: list[Decoded | None],
        shaped: list[Scanned],
        one_by_one: list[int],
        source: Callable[[int], Any],
    ) -> Sample | None:
        """Identify and encode samples of one measurement; returns one of those that were encoded one by one.

        `source` returns the message of a sample that came one by one, by its place among those seen.
        """
        table = self._table(batch, measurement)
        unknown_before = table.unknown_fields
        decoded = [one for one in seen if one is not None]
        if not measurement.of_parts:
            self._on_decoded(measurement.name, decoded)
        found = self._numbers(measurement, [one.tags for one in decoded])
        known = iter(found)
        numbers = [0 if one is None else next(known) for one in seen]
        if REFUSED in found:
            refused = {place for place, number in enumerate(numbers) if number == REFUSED}
            shaped = [scanned.without(refused) for scanned in shaped]
            for place in sorted(refused):
                if (one := seen[place]) is not None:
                    batch.rejected.append(_too_many(source(place), one.tags["host"]))
                    seen[place] = None

        shown = SHOWN_FIELDS.get(measurement.name, ())
        news: list[dict[str, Any] | None] = [None] * len(seen)
        for scanned in shaped:
            self._columns[measurement.name].encode(scanned, [numbers[place] for place in scanned.places], table)
            if shown:
                for place, fields in zip(scanned.places, scanned.fields(shown), strict=True):
                    news[place] = fields
        samples = [(place, self._sample(measurement, source(place), numbers[place], one)) for place in one_by_one if (one := seen[place])]
        good = self._encode_one_by_one(batch, measurement, samples, table)
        for place, sample in good:
            news[place] = {name: sample.fields[name] for name in shown if name in sample.fields}
        if table.minutes and min(table.minutes) < table.late.before:
            _note_late(table.late, numbers, seen)
        if shown:
            _note_news(batch.news.rates if measurement.name == "rnic" else batch.news.offload, numbers, seen, news)
        if table.unknown_fields > unknown_before:
            UNKNOWN_FIELDS.labels(topic).inc(table.unknown_fields - unknown_before)
        return good[0][1] if good else None

    def _table(self, batch: Batch, measurement: Measurement) -> Encoded:
        table = batch.tables.get(measurement.table)
        if table is None:
            table = batch.tables[measurement.table] = Encoded(measurement.table, self._encoders[measurement.name].columns)
            table.late = LateRnics(late_minute())  # the same for the whole batch: a minute's RNICs are noted all or not at all
        return table

    def _store_parts(
        self, batch: Batch, topic: str, measurement: Measurement, blocks: list[ScannedBlocks], others: list[Mapping[str, str]]
    ) -> set[int]:
        """Identify and encode rows of parts of RNICs. They are most of what hosts send, and nobody looks at one alone.

        `others` are tags of further rows, so that all new RNICs are stored together. Returns the blocks with rows of RNICs that are
        refused, of which nothing was stored.
        """
        table = self._table(batch, measurement)
        unknown_before = table.unknown_fields
        addresses = [[part.pci for part in one.scanned.parts] for one in blocks]
        refused = self._identify_parts(measurement, blocks, addresses, others)
        if refused:
            blocks = [one.without(refused) for one in blocks]
            addresses = [[part.pci for part in one.scanned.parts] for one in blocks]
        for one, of_rows in zip(blocks, addresses, strict=True):
            numbers: list[int] = []
            for known, count in zip(one.of, one.counts.values(), strict=True):
                numbers += map(known.identities.__getitem__, of_rows[len(numbers) : len(numbers) + count])
            self._columns[measurement.name].encode(one.scanned, numbers, table)
        if table.unknown_fields > unknown_before:
            UNKNOWN_FIELDS.labels(topic).inc(table.unknown_fields - unknown_before)
        return refused

    def _identify_parts(
        self, measurement: Measurement, blocks: list[ScannedBlocks], addresses: list[list[str]], others: list[Mapping[str, str]]
    ) -> set[int]:
        """Note the number of each RNIC that a block names; new ones are stored first. Returns the blocks that name one that is refused."""
        wanted: list[tuple[int, Known, str]] = []
        for one, of_rows in zip(blocks, addresses, strict=True):
            begin = 0
            for known, (block, count) in zip(one.of, one.counts.items(), strict=True):
                wanted += [(block, known, pci) for pci in set(of_rows[begin : begin + count]) - known.identities.keys()]
                begin += count
        refused: set[int] = set()
        if wanted:
            tags = [known.envelope.tags | {"pci": pci} for _, known, pci in wanted]
            for (block, known, pci), number in zip(wanted, self._numbers(measurement, [*tags, *others]), strict=False):
                if number == REFUSED:
                    refused.add(block)
                else:
                    known.identities[pci] = number
        return refused

    def _in_columns(self, columns: ColumnEncoder, group: list[Any], latest_ns: int) -> list[Scanned]:
        """What can be read in columns. A message whose sender does not prove its name is read one by one, which says what is wrong."""
        found = []
        for scanned in columns.scan([message.value() for message in group], latest_ns):
            unproven = set()
            for place, origin in zip(scanned.places, scanned.origins, strict=True):
                sender = self._sender(group[place].key())
                if sender is not None and not proves(sender, origin.tags["host"], origin.telemetry_key):
                    unproven.add(place)
            found.append(scanned.without(unproven) if unproven else scanned)
        return found

    def _decoded(self, batch: Batch, measurement: Measurement, message: Any, latest_ns: int) -> Decoded | None:
        """A message of the reference path; None if it is refused."""
        try:
            return decode(message.value(), measurement, latest_ns, self._sender(message.key()))
        except Refused as refusal:
            batch.rejected.append(rejected(message, refusal.reason, str(refusal)))
            return None

    @staticmethod
    def _sample(measurement: Measurement, message: Any, number: int, decoded: Decoded) -> Sample:
        tags, at_ns, fields = decoded
        texts = tuple(tags.get(name, "") for name in measurement.text_columns)
        return Sample(number, at_ns, texts, fields, message, tuple(int(tags[name]) for name in measurement.number_columns))

    def _encode_one_by_one(
        self, batch: Batch, measurement: Measurement, samples: list[tuple[int, Sample]], table: Encoded
    ) -> list[tuple[int, Sample]]:
        """Encode samples of the reference path; returns what was encoded."""
        refused_before = len(table.refused)
        self._encoders[measurement.name].encode([sample for _, sample in samples], table)
        refused = table.refused[refused_before:]
        batch.rejected.extend(rejected(sample.source, reason, detail) for sample, reason, detail in refused)
        bad = {id(sample) for sample, _, _ in refused}
        return [(place, sample) for place, sample in samples if id(sample) not in bad]

    def _numbers(self, measurement: Measurement, tags: list[Mapping[str, str]]) -> list[int]:
        """The number of each message's RNIC or host, or `REFUSED`; new ones are stored first."""
        if measurement.of == "host":
            hosts = self._identities.hosts
            new = {t["host"]: t.get("rack", "") for t in tags if t["host"] not in hosts}
            if new:
                self._with_database(lambda connection: self._identities.upsert_hosts(connection, new))
            return [hosts[t["host"]] for t in tags]
        rnics, full = self._identities.rnics, measurement.name == "rnic"
        found = [rnics.get((t["host"], t["pci"])) for t in tags]
        wanted = {
            (t["host"], t["pci"]): t
            for t, rnic in zip(tags, found, strict=True)
            if rnic is None or (full and rnic.tags is not t and rnic.tags != t)
        }
        if wanted:
            self._register(wanted, full)
            found = [rnics.get((t["host"], t["pci"])) for t in tags]
        return [REFUSED if rnic is None else rnic.rnic_id for rnic in found]

    def _register(self, wanted: Mapping[tuple[str, str], Mapping[str, str]], full: bool) -> set[tuple[str, str]]:
        """Store new RNICs and changed ones; returns those that are refused because their host has too many."""
        known = self._identities.rnics
        refused = self._admission.refused([key for key in wanted if key not in known])
        admitted = {key: tags for key, tags in wanted.items() if key not in refused} if refused else wanted
        if admitted:
            self._with_database(lambda connection: self._identities.upsert_rnics(connection, admitted, full))
        return refused

    def _without_refused(self, batch: Batch, decoded: list[tuple[Any, T]], identity: Callable[[T], tuple[str, str, str]]) -> list[T]:
        """What is said of RNICs that are known or can be registered; `identity` is host, PCI address and rack."""
        known = self._identities.rnics
        wanted = {
            (host, pci): {"rack": rack} for _, one in decoded for host, pci, rack in [identity(one)] if pci and (host, pci) not in known
        }
        refused = self._register(wanted, full=False) if wanted else set()
        if not refused:
            return [one for _, one in decoded]
        kept = []
        for message, one in decoded:
            host, pci, _ = identity(one)
            if (host, pci) in refused:
                batch.rejected.append(_too_many(message, host))
            else:
                kept.append(one)
        return kept

    def _findings(self, batch: Batch, group: list[Any]) -> None:
        read = self._read(batch, group, decode_finding)
        decoded = self._without_refused(batch, read, lambda f: (f["host"], f["pci"] or "", f["rack"]))
        known = self._identities.rnics
        hosts = {f["host"]: f["rack"] for f in decoded if f["host"] not in self._identities.hosts}
        if hosts:
            self._with_database(lambda connection: self._identities.upsert_hosts(connection, hosts))
        for f in decoded:
            rnic = known[f["host"], f["pci"]].rnic_id if f["pci"] else None
            shown = self._identities.of_host.get(f["host"], []) if f["blast_radius"] == "host" else [rnic] if rnic is not None else []
            batch.findings.append(StoredFinding(rnic, self._identities.hosts[f["host"]], tuple(shown), f))

    def _forecasts(self, batch: Batch, group: list[Any]) -> None:
        read = self._read(batch, group, decode_forecast)
        known = self._identities.rnics
        for f in self._without_refused(batch, read, lambda f: (f["host"], f["pci"], str(f.get("rack") or ""))):
            batch.forecasts.append(StoredForecast(known[f["host"], f["pci"]].rnic_id, datetime.fromisoformat(f["at"]), f))

    def _isolation(self, batch: Batch, group: list[Any], latest_ns: int) -> None:
        latest = datetime.fromtimestamp(latest_ns / 1e9, UTC)
        read = self._read(batch, group, lambda value: isolation_messages.decode(value, latest))
        known = self._identities.rnics
        decoded = self._without_refused(batch, read, lambda m: (m.host, m.pci, m.rack))
        batch.isolation += [StoredIsolation(known[m.host, m.pci].rnic_id, m) for m in decoded]

    @staticmethod
    def _read(batch: Batch, group: list[Any], decode_one: Callable[[Any], T]) -> list[tuple[Any, T]]:
        """Messages with what they say; those that cannot be used are rejected."""
        found = []
        for message in group:
            try:
                found.append((message, decode_one(message.value())))
            except Refused as refusal:
                batch.rejected.append(rejected(message, refusal.reason, str(refusal)))
        return found


def _too_many(message: Any, host: str) -> Rejected:
    return rejected(message, "too_many_rnics", admission.detail(host))


def _note_late(late: LateRnics, numbers: list[int], seen: list[Decoded | None]) -> None:
    """Note the RNICs of samples that came late."""
    for number, one in zip(numbers, seen, strict=True):
        if one is not None and (minute := one.at_ns // 60_000_000_000) < late.before:
            late.of_hour.setdefault(minute // 60, set()).add(number)


def _note_news(
    newest: dict[int, tuple[int, Mapping[str, Any]]],
    numbers: list[int],
    seen: list[Decoded | None],
    fields: list[dict[str, Any] | None],
) -> None:
    """Keep the newest sample of each RNIC; of two at the same time, the later one."""
    for number, decoded, shown in zip(numbers, seen, fields, strict=True):
        if decoded is not None and shown is not None:
            before = newest.get(number)
            if before is None or decoded.at_ns >= before[0]:
                newest[number] = (decoded.at_ns, shown)
