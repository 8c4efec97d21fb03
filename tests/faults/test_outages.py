"""Kafka or TimescaleDB is down for a while: every sample of the collector is in the database afterwards, exactly once.

The collector writes each metric to a file as well; that file is what must be found again. WALLWATCH_OUTAGE_S is the length of an
outage (12 s by default: a session of Kafka's clients, 10 s, ends within it).
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from wallwatch_testing import telemetry_path
from wallwatch_testing.blocks import singles
from wallwatch_testing.collector import FILE_OUTPUT, FREQUENT_MASKS, INPUTS, KAFKA_OUTPUT, Message, collecting, message, messages
from wallwatch_testing.kafka_lag import read_all
from wallwatch_testing.simulator import simulating
from wallwatch_testing.stack import random_name, wait_for
from wallwatch_testing.telemetry_path import TABLES, Key, TelemetryPath, keys, kill

pytestmark = pytest.mark.faults

OUTAGE_S = float(os.environ.get("WALLWATCH_OUTAGE_S", "12"))
DISK_BUFFER = '  buffer_strategy = "disk"\n  buffer_directory = "buffer"\n'


class Observed:
    """An observed simulated host with a unique name; the collector can be stopped, killed and restarted."""

    def __init__(self, path: TelemetryPath, host: Path, name: str) -> None:
        self.path = path
        self._host = host
        self._name = name
        self._taken = host / "taken.json"
        self._collector = ExitStack()
        self.start_collecting()

    def start_collecting(self) -> None:
        outputs = KAFKA_OUTPUT.format(bootstrap=self.path.kafka.address) + FILE_OUTPUT.format(path=self._taken)
        collector = collecting(self._host, self._name, INPUTS + FREQUENT_MASKS, outputs, more=DISK_BUFFER)
        self._process = self._collector.enter_context(collector)

    def stop_collecting(self) -> list[Message]:
        """End the collector cleanly; returns everything that it took."""
        self._collector.close()
        return messages(self._taken)

    def kill_collector(self) -> list[Message]:
        """End the collector as a power cut would; returns everything that it took."""
        kill(self._process)
        return self.stop_collecting()

    def rows(self, measurement: str) -> list[Key]:
        """Key and time of every row of the host, duplicates included."""
        return [row for row in self.path.rows(measurement) if row[0] == self._name]

    def has_rows(self, more_than: int = 5) -> bool:
        return len(self.rows("rnic")) > more_than

    def taken(self) -> list[Message]:
        """What has been taken so far."""
        return messages(self._taken)

    def _is_stored(self, measurement: str, expected: set[Key]) -> bool:
        return expected <= set(self.rows(measurement))

    def assert_all_stored(self, taken: list[Message]) -> None:
        """Wait until every taken sample is stored."""
        for measurement in TABLES:
            expected = keys(taken, measurement)
            assert len(expected) > 5, measurement
            try:
                wait_for(measurement, partial(self._is_stored, measurement, expected), timeout_s=60)
            except AssertionError:
                pytest.fail(self._where_lost(measurement, expected))

    def _where_lost(self, measurement: str, expected: set[Key]) -> str:
        """Report on which side of Kafka samples were lost."""
        missing = expected - set(self.rows(measurement))
        in_kafka = [
            message(one) for block in read_all(self.path.kafka.address, "wallwatch.blocks") for one in singles(block.value() or b"")
        ]
        ingested_not = missing & keys(in_kafka, measurement)
        refused = len(read_all(self.path.kafka.address, "wallwatch.dead_letter"))
        return (
            f"{measurement}: {len(missing)} of {len(expected)} samples are not stored, such as {sorted(missing)[:3]}; "
            f"{len(missing) - len(ingested_not)} of them never reached Kafka; there are {refused} dead letters"
        )

    def assert_all_stored_once(self, taken: list[Message]) -> None:
        """The same, and that none is there twice and nothing else is."""
        self.assert_all_stored(taken)
        for measurement in TABLES:
            rows = self.rows(measurement)
            assert len(rows) == len(set(rows)), f"{measurement} has duplicates"
            assert set(rows) == keys(taken, measurement), f"{measurement} has rows that nobody sent"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TelemetryPath]:
    with telemetry_path.start(tmp_path_factory.mktemp("p")) as started:
        yield started


@pytest.fixture
def observed(path: TelemetryPath, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    path.all_up()  # whatever a test before this one left
    with simulating(tmp_path_factory.mktemp("f"), "healthy") as hosts:
        one = Observed(path, hosts[0], random_name("host"))
        try:
            yield one
        finally:
            one.stop_collecting()


def test_nothing_is_lost_when_kafka_is_away(observed: Observed) -> None:
    with observed.path.job("ingest"):
        wait_for("first rows", observed.has_rows, timeout_s=60)
        observed.path.kafka.down()
        before = len(observed.taken())
        time.sleep(OUTAGE_S)
        during = len(observed.taken()) - before
        assert during > OUTAGE_S, "the collector stopped sampling during the outage"
        observed.path.kafka.up()
        # A collector that is stopped now would keep the rest on its disk until it starts again.
        observed.assert_all_stored(observed.taken())
        observed.assert_all_stored_once(observed.stop_collecting())


def test_what_the_collector_took_while_kafka_was_away_survives_a_killed_collector(observed: Observed) -> None:
    with observed.path.job("ingest"):
        wait_for("first rows", observed.has_rows, timeout_s=60)
        observed.path.kafka.down()
        time.sleep(8)
        # SIGKILL: nothing but the disk keeps what was not sent.
        taken = observed.kill_collector()
        observed.path.kafka.up()
        observed.start_collecting()
        observed.assert_all_stored(taken)


def test_nothing_is_lost_when_the_database_is_away(observed: Observed) -> None:
    with observed.path.job("ingest"):
        wait_for("first rows", observed.has_rows, timeout_s=60)
        observed.path.postgres.down()
        before = len(observed.taken())
        time.sleep(OUTAGE_S)
        assert len(observed.taken()) - before > OUTAGE_S
        observed.path.postgres.up()
        observed.assert_all_stored_once(observed.stop_collecting())


def test_a_killed_ingest_neither_loses_nor_repeats_a_row(observed: Observed) -> None:
    # Kafka waits for a killed consumer's session to end, so each round takes most of a minute.
    for _ in range(2):
        with observed.path.job("ingest") as process:
            enough = len(observed.rows("rnic")) + 5
            wait_for("more rows", partial(observed.has_rows, enough), timeout_s=60)
            kill(process)
    with observed.path.job("ingest"):
        observed.assert_all_stored_once(observed.stop_collecting())
