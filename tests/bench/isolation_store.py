"""What the fleet view of isolation costs in the database: from minutes, as it was, and from the roll-ups; and what these cost to keep.

Synthetic minutes of every VF, made in SQL, on the Apache edition of TimescaleDB with autovacuum and its usual settings.

WALLWATCH_BENCH_RNICS is the number of RNICs with 8 VFs each (200), WALLWATCH_BENCH_HOURS the length of the interval (48).
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from tests.bench.report import report

from wallwatch.store.rollups import ISOLATION_ROLLUPS, VF_DAY, VF_HOUR, refresh_statement
from wallwatch_backend.isolation.breakage import repository
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings
from wallwatch_local import postgres
from wallwatch_local.paths import REPOSITORY

RNICS = int(os.environ.get("WALLWATCH_BENCH_RNICS", "200"))
HOURS = int(os.environ.get("WALLWATCH_BENCH_HOURS", "48"))
VFS, TENANTS = 8, 200
HOUR = timedelta(hours=1)

_FILL = f"""
    INSERT INTO vf_minute (time, rnic_id, vf, generation, pod, tenant, slo, kept_s, broken_s, unknown_s, not_promised_s, aggressor_s,
      tx_mbps, rx_mbps, tx_mbps_max, rx_mbps_max, tx_kpps, rx_kpps, delay_p50_us, delay_p99_us, dropped, share, fair_share, state)
    SELECT minute, rnic, vf, 'g1', 'tenant-' || tenant || '/pod-' || rnic || '-' || vf, 'tenant-' || tenant, 'gold', 60, 0, 0, 0, 0,
      100, 200, 150, 300, 12, 25, 8, 40, 0, 0.05, 0.125, 'kept'
    FROM (
      SELECT minute, rnic, vf, (rnic * {VFS} + vf) %% {TENANTS} AS tenant
      FROM generate_series(%(start)s::timestamptz, %(end)s::timestamptz - interval '1 minute', interval '1 minute') AS minute,
        generate_series(1, {RNICS}) AS rnic, generate_series(0, {VFS - 1}) AS vf
    ) AS n ORDER BY minute, rnic, vf
"""
# How the fleet view counted until revision 0015.
_OF_MINUTES = """
    SELECT tenant, count(DISTINCT (rnic_id, vf)) AS vfs, sum(kept_s) AS kept_s, sum(unknown_s) AS unknown_s
    FROM vf_minute WHERE time >= %(start)s AND time < %(end)s GROUP BY tenant
"""


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.monotonic()
    found = work()
    return time.monotonic() - begin, found


def migrate(url: str) -> None:
    config = Config(str(REPOSITORY / "alembic.ini"))
    config.set_main_option("script_location", str(REPOSITORY / "migrations"))
    config.attributes.update(url=url, configure_logging=False)
    command.upgrade(config, "head")


async def tenants(url: str, start: datetime, end: datetime) -> tuple[float, repository.Rows]:
    """The query of the fleet view, the second time: connections and plans are those of a running backend."""
    database = Database(Settings(database_url=url))
    async with database.read() as session:
        await repository.tenants(session, start, end)
        begin = time.monotonic()
        rows = await repository.tenants(session, start, end)
        took = time.monotonic() - begin
    await database.dispose()
    return took, rows


def measure(url: str) -> dict[str, Any]:
    migrate(url)
    end = datetime(2026, 1, 3, 11, 30, tzinfo=UTC)
    start = end - HOURS * HOUR
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:

        def fill() -> None:
            for hour in range(HOURS):
                connection.execute(_FILL.encode(), {"start": start + hour * HOUR, "end": start + (hour + 1) * HOUR})

        fill_s, _ = timed(fill)
        connection.execute("VACUUM ANALYZE vf_minute")
        rows = connection.execute("SELECT count(*) FROM vf_minute").fetchone()
        whole = {"start": start, "end": end}
        minutes_s, before = timed(lambda: connection.execute(_OF_MINUTES.encode(), whole).fetchall())
        size = connection.execute("SELECT hypertable_size('vf_minute')").fetchone()

        def refresh(view: str, begin: datetime, width: timedelta) -> float:
            rollup = next(one for one in ISOLATION_ROLLUPS if one.view == view)
            span = {"start": begin, "end": begin + width}
            return timed(lambda: connection.execute(refresh_statement(rollup).encode(), span))[0]

        minute_s = refresh("tenant_1m", end - timedelta(minutes=1), timedelta(minutes=1))
        first, count = start.replace(minute=0), HOURS + 1
        hours_s = [refresh(VF_HOUR.view, first + hour * HOUR, HOUR) for hour in range(count)]
        for hour in range(count):
            refresh("tenant_1m", first + hour * HOUR, HOUR)
            refresh("tenant_hour", first + hour * HOUR, HOUR)
        again_s = refresh(VF_HOUR.view, first + 20 * HOUR, HOUR)
        day_s = refresh(VF_DAY.view, datetime(2026, 1, 2, tzinfo=UTC), timedelta(days=1))
        day_of_minutes_s, _ = timed(
            lambda: connection.execute(
                "SELECT rnic_id, vf, tenant, pod, sum(kept_s) FROM vf_minute WHERE time >= '2026-01-02Z' AND time < '2026-01-03Z'"
                " GROUP BY 1, 2, 3, 4"
            ).fetchall()
        )
        connection.execute("ANALYZE")
    rollups_s, after = asyncio.run(tenants(url, start, end))
    known = {row.tenant: (row.vfs, row.kept_s, row.unknown_s) for row in after}
    if known != {tenant: tuple(values) for tenant, *values in before}:
        raise RuntimeError("roll-ups and minutes differ")
    return {
        "rnics": RNICS, "vfs": RNICS * VFS, "hours": HOURS, "minutes": (rows or (0,))[0], "minutes_gb": (size or (0,))[0] / 1e9,
        "fill_s": fill_s, "query_minutes_s": minutes_s, "query_rollups_s": rollups_s, "tenant_minute_refresh_s": minute_s,
        "vf_hour_refresh_s": sorted(hours_s)[len(hours_s) // 2], "vf_hour_unchanged_s": again_s, "vf_day_refresh_s": day_s,
        "vf_day_of_minutes_s": day_of_minutes_s,
    }  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, postgres.start(Path(folder) / "data", durable=False) as url:
        report("isolation_store", **measure(url))


if __name__ == "__main__":
    main()
