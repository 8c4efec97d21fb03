"""One transaction of `ingest`: rows that exist already are found, left out and counted, and a statement that fails leaves nothing."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from wallwatch import kafka_clients
from wallwatch.jobs.dead_letter import DeadLetters
from wallwatch.jobs.ingest_batch import Batch, BatchBuilder
from wallwatch.jobs.ingest_writer import Database, Writer
from wallwatch.jobs.metrics import ROWS_REPEATED
from wallwatch.kafka_settings import KafkaSettings
from wallwatch.store import copy
from wallwatch.store.identities import Identities
from wallwatch.store.state import StateKeeper
from wallwatch_testing.ingest_batches import Record

from .conftest import until
from .test_ingest import count, message, offload, rnic, state

pytestmark = pytest.mark.integration
Connection = psycopg.Connection[Any]


@dataclass
class Writing:
    """A writer with its database, and the batches whose offsets it has committed."""

    builder: BatchBuilder
    writer: Writer
    committed: list[Batch]

    def write(self, *messages: dict[str, Any]) -> Batch:
        """Write one batch of these messages."""
        batch = Batch()
        host = messages[0]["tags"]["host"].encode()
        self.builder.add(batch, [Record(m["name"], json.dumps(m).encode(), host, number) for number, m in enumerate(messages)])
        self.writer.write(batch)
        return batch


@pytest.fixture
def writing(ingest_url: str, kafka_bootstrap: str) -> Iterator[Writing]:
    url = ingest_url.replace("+psycopg", "")
    stop = threading.Event()
    reader, database, identities = Database(url, stop), Database(url, stop), Identities()
    letters = DeadLetters("ingest", kafka_clients.producer(KafkaSettings(kafka_bootstrap=kafka_bootstrap)))
    committed: list[Batch] = []
    writer = Writer(database, StateKeeper(identities), letters, committed.append, lambda: 60.0)
    yield Writing(BatchBuilder(identities, reader.run, 60 * 10**9), writer, committed)
    reader.close()
    database.close()


def mask(host: str, second: float, name: str) -> dict[str, Any]:
    fields = {"flows": 3, "match": "ct_state"}
    return message(host, "rnic_mask", second, fields, pci=rnic(host, 0)["tags"]["pci"], direction="egress", mask=name)


def repeated(table: str) -> float:
    return float(ROWS_REPEATED.labels(table)._value.get())


def test_a_batch_that_repeats_rows_of_several_tables_adds_the_new_ones(writing: Writing, connection: Connection, host: str) -> None:
    first = [rnic(host, 1), offload(host, 1), mask(host, 1, "0a"), mask(host, 1, "0b")]
    writing.write(*first)
    before = {table: repeated(table) for table in ("rnic_sample", "offload_sample", "mask_sample")}
    again = writing.write(rnic(host, 2), *first, offload(host, 2), mask(host, 2, "0a"), mask(host, 1, "0c"))
    tables = {"rnic_sample": 2, "offload_sample": 2, "mask_sample": 4}
    assert {table: count(connection, table, host) for table in tables} == tables
    found = {table: repeated(table) - seen for table, seen in before.items()}
    assert found == {"rnic_sample": 1, "offload_sample": 1, "mask_sample": 2}
    assert writing.committed[-1] is again
    assert len(writing.committed) == 2


def test_a_row_that_is_twice_in_one_batch_is_stored_once(writing: Writing, connection: Connection, host: str) -> None:
    before = repeated("rnic_sample")
    writing.write(rnic(host, 1), rnic(host, 2), rnic(host, 1))
    assert (count(connection, "rnic_sample", host), repeated("rnic_sample") - before) == (2, 1)


def test_one_table_has_repeated_rows_and_the_others_are_written_as_usual(writing: Writing, connection: Connection, host: str) -> None:
    writing.write(offload(host, 1))
    writing.write(rnic(host, 1), offload(host, 1), mask(host, 1, "0a"))
    tables = {"rnic_sample": 1, "offload_sample": 1, "mask_sample": 1}
    assert {table: count(connection, table, host) for table in tables} == tables
    assert until(lambda: writing.writer.idle() or state(connection, host)["tx_gbps"] == 5), "the row of its state follows"


def test_rows_are_looked_for_only_until_a_batch_had_none_twice(writing: Writing, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    careful: list[str] = []
    write_new = copy.write_new

    def noted(connection: psycopg.Connection[object], batch: Any) -> int:
        careful.append(batch.table)
        return write_new(connection, batch)

    monkeypatch.setattr(copy, "write_new", noted)
    writing.write(rnic(host, 1))
    assert careful == []
    writing.write(rnic(host, 1))
    writing.write(rnic(host, 2))
    assert careful == ["rnic_sample"] * 2, "the repeated one, and the one after it"
    writing.write(rnic(host, 3))
    assert len(careful) == 2


def test_when_the_state_cannot_be_written_nothing_of_the_batch_is(writing: Writing, connection: Connection, host: str) -> None:
    writing.write(rnic(host, 1))
    connection.execute("ALTER SEQUENCE rnic_state_change_seq_values RENAME TO renamed")
    try:
        # A process that has written no row yet: its next batch is due at once.
        writing.writer._keeper._known.clear()
        writing.writer._last_state_s = float("-inf")
        with pytest.raises(psycopg.errors.UndefinedTable, match="rnic_state_change_seq_values"):
            writing.write(rnic(host, 2), offload(host, 2))
    finally:
        connection.execute("ALTER SEQUENCE renamed RENAME TO rnic_state_change_seq_values")
    assert (count(connection, "rnic_sample", host), count(connection, "offload_sample", host)) == (1, 0)
    assert len(writing.committed) == 1
    writing.write(rnic(host, 2), offload(host, 2))
    assert (count(connection, "rnic_sample", host), count(connection, "offload_sample", host)) == (2, 1)
