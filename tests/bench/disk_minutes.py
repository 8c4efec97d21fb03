"""The part of the benchmark `disk` on one-minute aggregates: bytes per RNIC and minute as rows and packed, cost of packing and reading.

Charts read 30 days of a few RNICs: the recorded hours again and again. Rows are in chunks of a day, as before they were packed.
"""

from __future__ import annotations

import statistics
import threading
import time
from datetime import datetime, timedelta
from typing import Any

import psycopg
from tests.bench.processes import usage

from wallwatch.jobs.packing import Packing
from wallwatch.settings import Settings
from wallwatch.store import packed
from wallwatch.store.rollups import ROLLUPS, refresh_statement

CHARTED = 8
"""RNICs with 30 days."""
DAYS = 30
READS = 16
ROLLUPS_PACKED = [rollup for rollup in ROLLUPS if rollup.table in packed.MINUTES]

_CHART = """
SELECT bucket, tx_gbps_avg, tx_gbps_min, tx_gbps_max, rx_gbps_avg, rx_gbps_min, rx_gbps_max, port_xmit_data_max, port_rcv_data_max,
  port_xmit_packets_max, port_rcv_packets_max, out_of_sequence_max, rnr_nak_retry_err_max
FROM {} WHERE rnic_id = %(rnic)s AND bucket >= %(until)s - %(length)s AND bucket < %(until)s ORDER BY bucket
"""
_FLEET_MINUTE = (
    "SELECT rnic_id, q_egress_max, q_ingress_max, flows_offloaded_max, masks_egress_max, encap_contexts_max FROM {} WHERE bucket = %(at)s"
)
_FLEET_HOURS = (
    "SELECT time_bucket(INTERVAL '5 minutes', bucket) AS at, percentile_cont(0.95) WITHIN GROUP (ORDER BY q_egress_max)"
    " FROM {} WHERE bucket >= %(at)s AND bucket < %(at)s + INTERVAL '3 hours' GROUP BY 1 ORDER BY 1"
)


def measure(connection: psycopg.Connection[Any], url: str, begin: datetime, hours: int) -> dict[str, Any]:
    """Compute the minutes of the samples that are there, and report them as rows and packed. What is packed already may not be there."""
    packing = Packing(Settings(database_url=url), threading.Event(), lambda *_: None)
    end = begin + timedelta(hours=hours)
    for rollup in ROLLUPS_PACKED:
        connection.execute("SELECT set_chunk_time_interval(%s, INTERVAL '1 day')", [rollup.table])
        connection.execute(refresh_statement(rollup).encode(), {"start": begin, "end": end})
        connection.execute(f"VACUUM ANALYZE {rollup.table}".encode())
    counted = connection.execute(f"SELECT count(*) FROM {ROLLUPS_PACKED[0].table}".encode()).fetchone()
    minutes = counted[0] if counted else 0
    found: dict[str, Any] = {"minutes_bytes_per_rnic_as_rows": {r.view: _bytes(connection, r.table) / minutes for r in ROLLUPS_PACKED}}
    fleet = {"at": begin + timedelta(minutes=95)}
    queries = {"fleet_minute": _FLEET_MINUTE, "fleet_3_h": _FLEET_HOURS}
    answers = {name: _read(connection, query.format("offload_1m_rollup"), fleet) for name, query in queries.items()}
    cpu = usage(connection.info.backend_pid).cpu_s
    packing.pack(connection)
    found["minutes_packing_cpu_us_per_row"] = (usage(connection.info.backend_pid).cpu_s - cpu) / minutes / len(ROLLUPS_PACKED) * 1e6
    for table in (packed.MINUTES_OF_HOURS, *(packed.table_name(rollup.table) for rollup in ROLLUPS_PACKED)):
        connection.execute(f"VACUUM ANALYZE {table}".encode())
    found["minutes_bytes_per_rnic_packed"] = {r.view: _bytes(connection, packed.table_name(r.table)) / minutes for r in ROLLUPS_PACKED}
    for name, query in queries.items():
        found |= _compare(name, answers[name], _read(connection, query.format("offload_1m"), fleet))
    return found | _charts(connection, packing, end, hours)


def _charts(connection: psycopg.Connection[Any], packing: Packing, end: datetime, hours: int) -> dict[str, Any]:
    for rollup in ROLLUPS_PACKED[:1]:
        columns = [c.name for c in connection.execute(f"SELECT * FROM {rollup.view} LIMIT 0".encode()).description or ()]
        earlier = ", ".join("bucket - n * %(by)s" if name == "bucket" else name for name in columns)
        connection.execute(
            f"INSERT INTO {rollup.table} ({', '.join(columns)}) SELECT {earlier} FROM {rollup.view}, generate_series(1, %(times)s) AS n "
            "WHERE rnic_id <= %(most)s ORDER BY bucket - n * %(by)s".encode(),
            {"by": timedelta(hours=hours), "times": DAYS * 24 // hours + 1, "most": CHARTED},
        )
        connection.execute(
            f"INSERT INTO {rollup.table} SELECT * FROM {rollup.view} WHERE rnic_id <= %s AND bucket >= %s".encode(),
            [CHARTED, end - timedelta(hours=hours)],
        )
        connection.execute(f"VACUUM ANALYZE {rollup.table}".encode())
    lengths = {f"chart_{days}_d": {"until": end, "length": timedelta(days=days)} for days in (7, DAYS)}
    answers = {name: _read(connection, _CHART.format("rnic_1m_rollup"), values) for name, values in lengths.items()}
    packing.pack(connection)
    connection.execute("VACUUM ANALYZE rnic_1m_rollup_packed, minutes_packed")
    found: dict[str, Any] = {}
    for name, values in lengths.items():
        found |= _compare(name, answers[name], _read(connection, _CHART.format("rnic_1m"), values))
    return found


def _compare(name: str, before: tuple[float, float, list[Any]], after: tuple[float, float, list[Any]]) -> dict[str, Any]:
    assert before[2] == after[2] != [], "the packed minutes are not those of the rows"
    names = ("of_rows_ms", "of_rows_cpu_ms", "packed_ms", "packed_cpu_ms")
    return {f"{name}_points": len(after[2])} | {f"{name}_{n}": v for n, v in zip(names, (*before[:2], *after[:2]), strict=True)}


def _read(connection: psycopg.Connection[Any], statement: str, values: dict[str, Any]) -> tuple[float, float, list[Any]]:
    """Milliseconds by the clock (p50) and of PostgreSQL's CPU time per query, and the rows of the last one in an order of their own."""
    times: list[float] = []
    rows: list[Any] = []
    cursor = psycopg.ClientCursor(connection)  # values are part of the statement, as in Grafana's
    cpu = usage(connection.info.backend_pid).cpu_s
    for number in range(READS):
        begin = time.perf_counter()
        rows = cursor.execute(statement.encode(), {"rnic": 1 + number % CHARTED} | values).fetchall()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3, (usage(connection.info.backend_pid).cpu_s - cpu) / READS * 1e3, sorted(rows, key=str)


def _bytes(connection: psycopg.Connection[Any], table: str) -> int:
    row = connection.execute("SELECT hypertable_size(%s)", [table]).fetchone()
    return int(row[0]) if row is not None else 0
