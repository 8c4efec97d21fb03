"""The telemetry path only: simulated host, collector, Kafka, ingest, database. Each server can be stopped and restarted."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Any

import psycopg

from wallwatch.jobs.topics import create_topics
from wallwatch.kafka_settings import KafkaSettings
from wallwatch_local import kafka, ports, postgres
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing.collector import Message

WALLWATCH = str(Path(sys.executable).with_name("wallwatch"))
TABLES = {
    "rnic": ("rnic_sample", "JOIN rnic USING (rnic_id)", ("host", "pci")),
    "rnic_offload": ("offload_sample", "JOIN rnic USING (rnic_id)", ("host", "pci")),
    "rnic_mask": ("mask_sample", "JOIN rnic USING (rnic_id)", ("host", "pci", "direction", "mask")),
    "ovs_datapath": ("datapath_sample", "JOIN host USING (host_id)", ("host", "datapath")),
}
Key = tuple[str, ...]


class Server:
    """A server with data in a folder and a fixed port, which can be stopped and restarted."""

    def __init__(self, start: Any) -> None:
        self._start = start
        self._running: ExitStack | None = None
        self.address = ""

    def up(self) -> str:
        """Start it unless it runs; returns its address."""
        if self._running is not None:
            return self.address
        running = ExitStack()
        self.address = running.enter_context(self._start())
        self._running = running
        return self.address

    def down(self) -> None:
        """Stop it cleanly."""
        if self._running is not None:
            self._running.close()
            self._running = None


@dataclass
class TelemetryPath:
    """Both servers; `environment` is what the jobs need to find them."""

    folder: Path
    postgres: Server = field(init=False)
    kafka: Server = field(init=False)

    def __post_init__(self) -> None:
        postgres_port, kafka_port = ports.free_ports(2)
        self.postgres = Server(lambda: postgres.start(self.folder / "postgres", postgres_port))
        self.kafka = Server(lambda: kafka.start(self.folder / "kafka", kafka_port))

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "WALLWATCH_DATABASE_URL": self.postgres.address,
            "WALLWATCH_KAFKA_BOOTSTRAP": self.kafka.address,
            "WALLWATCH_STATE_DIR": str(self.folder / "state"),
        }

    def all_up(self) -> None:
        """Start the servers that are not running."""
        self.postgres.up()
        self.kafka.up()

    @contextmanager
    def job(self, name: str, **more: str) -> Iterator[subprocess.Popen[bytes]]:
        """A job that the test may kill; it is started once."""
        environment = self.environment | more
        command = ["env", "-i", *[f"{key}={value}" for key, value in environment.items()], WALLWATCH, "job", name]
        with running(name, die_with_parent(command, SIGTERM), self.folder / f"{name}.log", lambda: True, SIGTERM) as process:
            yield process

    @contextmanager
    def database(self) -> Iterator[psycopg.Connection[Any]]:
        with psycopg.connect(self.postgres.address.replace("+psycopg", ""), autocommit=True) as connection:
            yield connection

    def rows(self, measurement: str) -> list[Key]:
        """Key and time in microseconds of every row, duplicates included."""
        table, join, tags = TABLES[measurement]
        columns = ", ".join([*tags, "(extract(epoch FROM time) * 1000000)::bigint::text"])
        with self.database() as connection:
            return connection.execute(f"SELECT {columns} FROM {table} {join}").fetchall()  # type: ignore[arg-type]  # made of constants of this module


def keys(messages: list[Message], measurement: str) -> set[Key]:
    """What `TelemetryPath.rows` shows for these messages when each was stored."""
    tags = TABLES[measurement][2]
    return {(*(one.tags[tag] for tag in tags), str(one.timestamp_ns // 1000)) for one in messages if one.name == measurement}


@contextmanager
def start(folder: Path, partitions: int = 4) -> Iterator[TelemetryPath]:
    """Both servers up, topics and schema made."""
    path = TelemetryPath(folder)
    try:
        path.postgres.up()
        create_topics(KafkaSettings(kafka_bootstrap=path.kafka.up()), partitions=partitions)
        subprocess.run([WALLWATCH, "db", "upgrade"], env=path.environment, check=True, capture_output=True)
        yield path
    finally:
        path.kafka.down()
        path.postgres.down()


def kill(process: "subprocess.Popen[bytes]") -> None:
    """SIGKILL, and wait until the process is gone."""
    process.send_signal(SIGKILL)
    process.wait()
