"""The short benchmarks of the ledger: pure Python and compiled loops, no server, some seconds of CPU each. CI runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import orjson
from tests.bench.isolation import EVERY_S, START_S, Judge
from tests.bench.ledger.fleet import fleet
from tests.bench.ledger.paired import Paired, measure

from wallwatch import kafka_clients
from wallwatch.domain.symptoms import silence
from wallwatch.domain.symptoms.host_stage import MEASUREMENTS, Message
from wallwatch.domain.telemetry.block_layouts import layouts
from wallwatch.domain.telemetry.decode import Decoded, Sender, decode
from wallwatch.domain.telemetry.keys import TAG, Keys, key_of
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.jobs.classify import Classifier
from wallwatch.jobs.host_state import HostStates
from wallwatch.jobs.ingest import POLL_MESSAGES
from wallwatch.jobs.ingest_batch import FINDINGS_TOPIC, Batch, BatchBuilder
from wallwatch.jobs.silence import SilenceWatch
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_testing.blocks import in_blocks
from wallwatch_testing.ingest_batches import IdentitiesInMemory, Record, rows_of
from wallwatch_testing.vf_traffic import SharedRnic

ROUNDS = 9
INGEST_HOSTS, CLASSIFY_HOSTS, ISOLATION_RNICS = 60, 12, 150
REFERENCES = 10
COLLECTION = 9
"""Messages of one collection of a host: two of each of its four RNICs, and one of its datapath."""
MESSAGES_OF_ALL = 216
"""Of a host whose four RNICs have ten masks and one or two virtual functions each: what it sends in some 40 s, events left out."""
SECRET = bytes(range(32))


@dataclass(frozen=True)
class Short:
    """One benchmark and what its reference is."""

    run: Callable[[], Paired]
    reference: str
    compiled: bool = False
    """With the compiled stage; left out where it was not compiled."""


def _records() -> list[Record]:
    """What hosts send in two minutes in `rnic` and `rnic_offload`, with their telemetry keys."""
    found = []
    for number, sent in enumerate(fleet(frozenset({"rnic", "rnic_offload"}), INGEST_HOSTS)[:96]):
        for name, host, message in sent:
            key = b'"rack":"r1","%b":"%b"' % (TAG.encode(), key_of(SECRET, host).encode())
            found.append(Record(name, message.replace(b'"rack":"r1"', key), host.encode(), number))
    return found


def _blocks() -> list[Record]:
    """What hosts send in some 40 s, everything but events, in the usual form: a block for each host, time and measurement."""
    sent = fleet(frozenset(layouts()), INGEST_HOSTS)[:MESSAGES_OF_ALL]
    found: list[tuple[int, Record]] = []
    for number in range(INGEST_HOSTS):
        messages = []
        for name, host, message in (one[number] for one in sent):
            key = b'"rack":"r1","%b":"%b"' % (TAG.encode(), key_of(SECRET, host).encode())
            messages.append(Record(name, message.replace(b'"rack":"r1"', key), host.encode()))
        for block in in_blocks(messages):
            assert block.measurement == "blocks"
            found.append((_second_of(block.content or b""), block))
    in_order = sorted(found, key=lambda one: one[0])
    return [block._replace(number=number) for number, (_, block) in enumerate(in_order)]


def _second_of(block: bytes) -> int:
    """Second of a block's first row."""
    return int(orjson.loads(block)["rows"][0][0]) // 1_000_000_000


def _with_database(work: Callable[..., None]) -> None:
    work(None)


def ingest_batch() -> Paired:
    """From Kafka's records to the bytes of COPY: `BatchBuilder` with senders checked and silent hosts watched."""
    watch = silence.new()

    def hear(measurement: str, messages: Iterable[Decoded]) -> None:
        for tags, at_ns, fields in messages:
            silence.take(watch, Message(measurement, tags, at_ns, fields))

    return _ingested(_records(), hear)


def ingest_blocks() -> Paired:
    """The same for blocks, as hosts send them, masks and virtual functions included, with the job's own watch; per sample."""
    return _ingested(
        _blocks(), SilenceWatch(kafka_clients.producer(KafkaSettings(), {"log_level": 0}), FINDINGS_TOPIC, _with_database).on_decoded
    )


def _ingested(records: list[Record], hear: Callable[[str, Iterable[Decoded]], None]) -> Paired:
    parts = [records[i : i + POLL_MESSAGES] for i in range(0, len(records), POLL_MESSAGES)]
    proves = Keys([SECRET]).proves
    builder = BatchBuilder(IdentitiesInMemory(), _with_database, 0, hear, lambda record_key: Sender(record_key, proves))

    def work() -> Batch:
        batch = Batch()
        for part in parts:
            builder.add(batch, part)
        return batch

    work()
    again = work()
    assert not again.rejected, "messages were refused"
    tables = again.tables.values()
    assert sum(table.row_count for table in tables) == again.samples, "rows are missing"
    rows = [row for table in tables for row in rows_of(table)]

    def reference() -> bytes:
        for _ in range(2):
            for part in parts:
                for record in part:
                    orjson.loads(record.value() or b"")
            joined = b"".join(rows)
        return joined

    return measure(work, reference, again.samples, ROUNDS, 2)


def classify_stage() -> Paired:
    """From Kafka's records to findings and the parts of the state that a checkpoint writes, after each collection of a host; no Kafka."""
    sent = fleet(frozenset(MEASUREMENTS), CLASSIFY_HOSTS)
    rounds = [[Record(name, value, host.encode(), number) for name, host, value in one] for number, one in enumerate(sent)]
    warm, per_round = len(rounds) // 3, len(rounds) * 2 // 3 // ROUNDS
    states = HostStates()
    classifier = Classifier(states, 1 << 61)
    registered = measurements()

    def judge(records: list[Record]) -> None:
        classifier.take(records)

    def add_up(records: list[Record]) -> None:
        total = 0.0
        for record in records:
            for field in decode(record.value(), registered[record.measurement], 1 << 62).fields.values():
                if type(field) is not str:
                    total += field

    def over(do: Callable[[list[Record]], None], checkpoint: bool) -> Callable[[], None]:
        chunks = iter([rounds[i : i + per_round] for i in range(warm, warm + ROUNDS * per_round, per_round)])

        def work() -> None:
            for number, records in enumerate(next(chunks)):
                do(records)
                if checkpoint and number % COLLECTION == COLLECTION - 1:
                    list(states.take_unsaved(0))

        return work

    for records in rounds[:warm]:
        judge(records)
    return measure(over(judge, True), over(add_up, False), per_round * CLASSIFY_HOSTS, ROUNDS)


def isolation_stream() -> Paired:
    """The job `isolation` from bytes to bytes, without Kafka."""
    rnics = [SharedRnic(f"host{i:05d}", seed=i) for i in range(ISOLATION_RNICS)]
    turns = [[orjson.dumps(rnic.step(START_S + turn * EVERY_S, EVERY_S)) for rnic in rnics] for turn in range(6 + 2 * ROUNDS)]
    judge = Judge()
    for values in turns[:6]:
        for value in values:
            judge.take(value)
    chunks = [turns[i] + turns[i + 1] for i in range(6, len(turns), 2)]
    for_judge, for_parser = iter(chunks), iter(chunks)

    def work() -> None:
        for value in next(for_judge):
            judge.take(value)

    def reference() -> None:
        values = next(for_parser)
        for _ in range(REFERENCES):
            for value in values:
                orjson.loads(orjson.loads(value)["fields"]["vfs"])

    return measure(work, reference, 2 * ISOLATION_RNICS, ROUNDS, REFERENCES)


DECODING = "decoding the same messages, and a loop that adds up their numbers"
PARSING = "orjson.loads of the same messages and of the functions inside"

SHORT = {
    "ingest_batch": Short(ingest_batch, "orjson.loads of the same messages, and joining the same rows' ready bytes"),
    "ingest_blocks": Short(ingest_blocks, "orjson.loads of the same blocks, and joining the same rows' ready bytes"),
    "classify_stage": Short(classify_stage, DECODING),
    "classify_stage_compiled": Short(classify_stage, DECODING, compiled=True),
    "isolation_stream": Short(isolation_stream, PARSING),
    "isolation_stream_compiled": Short(isolation_stream, PARSING, compiled=True),
}
