"""Bytes on disk per value and per row of samples, as rows and packed; the cost of packing and of reading 12 fields over 6 hours.
The same for one-minute aggregates (`disk_minutes`).

The telemetry is recorded from one simulated host of four RNICs; the other RNICs have its rows under other numbers, which is the same to
PostgreSQL, as each is packed alone. WALLWATCH_BENCH_HOURS is its length (7), WALLWATCH_BENCH_RNICS the number of RNICs (200).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import psycopg
from tests.bench import disk_minutes
from tests.bench.ledger import fleet
from tests.bench.processes import usage
from tests.bench.report import report

from wallwatch.jobs.ingest_batch import Batch
from wallwatch.store import copy, packed
from wallwatch_local import ports, postgres
from wallwatch_testing.ingest_batches import Record, builder

HOURS = int(os.environ.get("WALLWATCH_BENCH_HOURS", "7"))
RNICS = int(os.environ.get("WALLWATCH_BENCH_RNICS", "200"))
RECORDED = 4
READS = 40
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
"""When fleetsim's recordings begin."""

TABLES = {"rnic_sample": "rnic", "offload_sample": "rnic_offload", "mask_sample": "rnic_mask", "vf_sample": "rnic_vf"}
READ = """
SELECT time, rx_gbps, tx_gbps, port_xmit_data, port_rcv_data, port_xmit_packets, port_rcv_packets, port_xmit_wait, out_of_sequence,
  rnr_nak_retry_err, other ->> 'rx_packets', other ->> 'tx_packets', other ->> 'rx_write_requests'
FROM {} WHERE rnic_id = %(rnic)s AND time >= %(since)s AND time < %(until)s {} ORDER BY time
"""
HOURS_BOUND = "AND hour > %(since)s - INTERVAL '1 hour' AND hour < %(until)s"


def records() -> Iterator[Record]:
    """The recorded messages of the packed measurements."""
    for number, message in enumerate(fleet.recorded(f"{HOURS}h")):
        name = message.rsplit(b'"name":"', 1)[1].split(b'"', 1)[0].decode()
        if name in TABLES.values():
            yield Record(name, message, None, number)


def fill(connection: psycopg.Connection[Any], messages: list[Record]) -> None:
    """The rows as ingest writes them, and once more for each further four RNICs, in the order of the times."""
    build = builder(in_columns=True).builder
    for i in range(0, len(messages), 400):
        batch = Batch()
        build.add(batch, messages[i : i + 400])
        with connection.transaction():
            for table in batch.tables.values():
                copy.write(connection, table)
    for table in TABLES:
        columns = [
            row[0] for row in connection.execute("SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0", [table])
        ]
        values = ", ".join("rnic_id + 4 * n" if name == "rnic_id" else name for name in columns)
        connection.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table}, generate_series(1, %s) AS n ORDER BY time".encode(),
            [RNICS // RECORDED - 1],
        )
        connection.execute(f"VACUUM ANALYZE {table}".encode())


def bytes_of(connection: psycopg.Connection[Any], *tables: str) -> int:
    sizes = [connection.execute("SELECT hypertable_size(%s)", [table]).fetchone() for table in tables]
    return sum(int(size[0]) for size in sizes if size is not None)


def pack(connection: psycopg.Connection[Any], table: str) -> float:
    """Pack all hours of a table; returns PostgreSQL's CPU time."""
    hours = connection.execute(
        "SELECT range_start FROM timescaledb_information.chunks WHERE hypertable_schema = 'public' AND hypertable_name = %s", [table]
    ).fetchall()
    cpu = usage(connection.info.backend_pid).cpu_s
    for (begins,) in hours:
        connection.execute("SELECT wallwatch_pack_hour(%s, %s)", [table, begins])
    return usage(connection.info.backend_pid).cpu_s - cpu


def read(connection: psycopg.Connection[Any], relation: str, bound: str) -> tuple[float, float, int]:
    """Milliseconds by the clock (p50) and of PostgreSQL's CPU time per query, and how many rows one has."""
    statement = READ.format(relation, bound).encode()
    times, rows = [], 0
    cpu = usage(connection.info.backend_pid).cpu_s
    for number in range(READS):
        since = BEGIN + timedelta(minutes=30)
        begin = time.perf_counter()
        found = connection.execute(statement, {"rnic": 1 + number * RNICS // READS, "since": since, "until": since + timedelta(hours=6)})
        rows = len(found.fetchall())
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3, (usage(connection.info.backend_pid).cpu_s - cpu) / READS * 1e3, rows


def main() -> None:
    """Measure and report."""
    messages = list(records())
    values, counts = dict.fromkeys(TABLES.values(), 0), dict.fromkeys(TABLES.values(), 0)
    for message in messages:
        fields = orjson.loads(message.content or b"")["fields"].values()
        counts[message.measurement] += RNICS // RECORDED
        values[message.measurement] += sum(type(value) in (int, float) for value in fields) * (RNICS // RECORDED)
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as name, postgres.start(Path(name) / "pg", ports.free_ports(1)[0]) as url:
        wallwatch = str(Path(sys.executable).with_name("wallwatch"))
        subprocess.run([wallwatch, "db", "upgrade"], env=os.environ | {"WALLWATCH_DATABASE_URL": url}, check=True, capture_output=True)
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            fill(connection, messages)
            rows = {table: bytes_of(connection, table) for table in TABLES}
            read_rows = read(connection, "rnic_sample", "")
            cpu = {table: pack(connection, table) for table in TABLES}
            after = {table: bytes_of(connection, table, packed.table_name(table)) for table in TABLES}
            read_packed = read(connection, packed.view_name("rnic_sample"), HOURS_BOUND)
            minutes = disk_minutes.measure(connection, url, BEGIN, HOURS)
    assert read_rows[2] == read_packed[2] > 0, "the packed samples are not those of the rows"
    report(
        "disk",
        rnics=RNICS,
        rows=counts,
        values_per_row={m: values[m] / counts[m] for m in TABLES.values()},
        bytes_per_row_as_rows={m: rows[t] / counts[m] for t, m in TABLES.items()},
        bytes_per_row_packed={m: after[t] / counts[m] for t, m in TABLES.items()},
        bytes_per_value_as_rows={m: rows[t] / values[m] for t, m in TABLES.items()} | {"all": sum(rows.values()) / sum(values.values())},
        bytes_per_value_packed={m: after[t] / values[m] for t, m in TABLES.items()} | {"all": sum(after.values()) / sum(values.values())},
        packing_cpu_us_per_row={m: cpu[t] / counts[m] * 1e6 for t, m in TABLES.items()},
        read_6_h_points=read_rows[2],
        read_6_h_of_rows_ms=read_rows[0],
        read_6_h_of_rows_cpu_ms=read_rows[1],
        read_6_h_packed_ms=read_packed[0],
        read_6_h_packed_cpu_ms=read_packed[1],
        **minutes,
    )


if __name__ == "__main__":
    main()
