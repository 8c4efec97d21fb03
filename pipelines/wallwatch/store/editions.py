"""The differences between the two editions of TimescaleDB.

Community has columnstore (compression), continuous aggregates and retention policies. The Apache edition (Debian's build) has none of them:
there, the same view names read rollup tables that `ingest` fills, and `ingest` drops old chunks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum

from sqlalchemy import Connection, text

from wallwatch.store.isolation_tables import SECONDS
from wallwatch.store.rollups import Rollup

COMPRESS_AFTER = "2 hours"
"""Late samples arrive within minutes; two chunks stay uncompressed, so COPY never has to open a compressed one."""

RAW_RETENTION = "7 days"
ROLLUP_RETENTION = "90 days"
EVENT_RETENTION = "365 days"

_REACH_BACK = "6 days"
"""Minutes that arrive late are in hours and days, too. Only what changed is computed again, so reaching back costs nothing;
it must not reach past `RAW_RETENTION`, where sources are missing."""

_REFRESHED = {
    "1 minute": ("1 hour", "1 minute", "1 minute"),
    "1 hour": (_REACH_BACK, "5 minutes", "10 minutes"),
    "1 day": (_REACH_BACK, "5 minutes", "30 minutes"),
}
"""Width of a roll-up -> from and until when it is computed, and how often. What is newer is computed when it is read."""

LASTING = frozenset({"event", "finding", "vf_broken"})
"""Hypertables that are kept for as long as `EVENT_RETENTION`."""

_SEGMENTS = {
    "rnic_sample": ("rnic_id", "time DESC"),
    "offload_sample": ("rnic_id", "time DESC"),
    "mask_sample": ("rnic_id", "time DESC, direction, mask"),
    "datapath_sample": ("host_id", "time DESC, datapath"),
    "vf_sample": ("rnic_id", "time DESC, vf"),
    "function_sample": ("rnic_id", "time DESC, function, container"),
    "forecast": ("rnic_id", "time DESC"),
    "policy_sample": ("host_id", "time DESC, policy, pci"),
    "vf_minute": ("rnic_id", "time DESC, vf, generation"),
}


class Edition(StrEnum):
    COMMUNITY = "community"
    APACHE = "apache"


def edition_of(connection: Connection) -> Edition:
    """Read the edition from the database. The setting is `timescale` for Community and `apache` otherwise."""
    license_name = connection.execute(text("SELECT current_setting('timescaledb.license', true)")).scalar_one()
    if license_name is None:
        raise RuntimeError(
            "timescaledb is not loaded: add shared_preload_libraries = 'timescaledb' to postgresql.conf and restart PostgreSQL"
        )
    return Edition.COMMUNITY if license_name == "timescale" else Edition.APACHE


def aggregate_statements(rollup: Rollup, edition: Edition) -> Iterator[str]:
    """SQL that creates the view of aggregates."""
    if edition is Edition.COMMUNITY:
        # Real time (materialized_only = false): the newest minute is computed on read, so charts include the current minute.
        yield (
            f"CREATE MATERIALIZED VIEW {rollup.view} WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS "
            f"{rollup.select} GROUP BY {rollup.group_by} WITH NO DATA"
        )
        start, end, every = _REFRESHED[rollup.width]
        start = _REACH_BACK if rollup.by_time else start
        keep = RAW_RETENTION if rollup.short_lived else ROLLUP_RETENTION
        yield (
            f"SELECT add_continuous_aggregate_policy('{rollup.view}', start_offset => INTERVAL '{start}', "
            f"end_offset => INTERVAL '{end}', schedule_interval => INTERVAL '{every}')"
        )
        yield f"SELECT add_retention_policy('{rollup.view}', INTERVAL '{keep}')"
        return
    keys = ", ".join(f"{key} {'integer' if key in ('rnic_id', 'vf') else 'text'} NOT NULL" for key in rollup.keys)
    columns = ", ".join(
        f"{name} {'double precision' if name.endswith('_avg') else _column_type(rollup, name)}" for name, _ in rollup.aggregates
    )
    yield (
        f"CREATE TABLE {rollup.table} ({keys}, bucket timestamptz NOT NULL, samples bigint NOT NULL, {columns}, "
        f"PRIMARY KEY ({', '.join(rollup.identity)}))"
    )
    chunk = "1 day" if rollup.width == "1 minute" or rollup.short_lived else "30 days"
    yield f"SELECT create_hypertable('{rollup.table}', by_range('bucket', INTERVAL '{chunk}'), create_default_indexes => false)"
    yield f"CREATE VIEW {rollup.view} AS SELECT * FROM {rollup.table}"  # noqa: S608 - names from the registry


def drop_statements(rollup: Rollup, edition: Edition) -> Iterator[str]:
    """SQL that removes the view of aggregates and what is behind it."""
    if edition is Edition.COMMUNITY:
        yield f"DROP MATERIALIZED VIEW {rollup.view}"
        return
    yield f"DROP VIEW {rollup.view}"
    yield f"DROP TABLE {rollup.table}"


def _column_type(rollup: Rollup, aggregate: str) -> str:
    from wallwatch.store.tables import metadata  # here, because `tables` must stay importable without `editions`

    if aggregate == "vfs":
        return "bigint"
    if aggregate in SECONDS:
        return "double precision"
    column = metadata.tables[rollup.source].c[aggregate.rsplit("_", 1)[0]]
    return "bigint" if column.type.python_type is int else "double precision"


def lifecycle_statements(edition: Edition, tables: Collection[str]) -> Iterator[str]:
    """SQL for compression and retention policies of these hypertables; empty on the Apache edition."""
    if edition is Edition.APACHE:
        return
    for table, (segment, order) in _SEGMENTS.items():
        if table not in tables:
            continue
        yield (
            f"ALTER TABLE {table} SET (timescaledb.enable_columnstore, "
            f"timescaledb.segmentby = '{segment}', timescaledb.orderby = '{order}')"
        )
        yield f"CALL add_columnstore_policy('{table}', after => INTERVAL '{COMPRESS_AFTER}')"
        yield f"SELECT add_retention_policy('{table}', INTERVAL '{RAW_RETENTION}')"
    for table in sorted(LASTING.intersection(tables)):
        yield f"SELECT add_retention_policy('{table}', INTERVAL '{EVENT_RETENTION}')"
