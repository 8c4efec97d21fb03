"""The differences between the two editions of TimescaleDB.

Community has columnstore (compression), continuous aggregates and retention policies. The Apache edition (Debian's build) has none of them:
there, the same view names read rollup tables that `ingest` fills, and `ingest` drops old chunks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum

from sqlalchemy import Connection, text

from wallwatch.store.rollups import Rollup

COMPRESS_AFTER = "2 hours"
"""Late samples arrive within minutes; two chunks stay uncompressed, so COPY never has to open a compressed one."""

RAW_RETENTION = "7 days"
ROLLUP_RETENTION = "90 days"
EVENT_RETENTION = "365 days"

_SEGMENTS = {
    "rnic_sample": ("rnic_id", "time DESC"),
    "offload_sample": ("rnic_id", "time DESC"),
    "mask_sample": ("rnic_id", "time DESC, direction, mask"),
    "datapath_sample": ("host_id", "time DESC, datapath"),
    "vf_sample": ("rnic_id", "time DESC, vf"),
    "forecast": ("rnic_id", "time DESC"),
    "policy_sample": ("host_id", "time DESC, policy, pci"),
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
    """SQL that creates the view of one-minute aggregates."""
    if edition is Edition.COMMUNITY:
        # Real time (materialized_only = false): the newest minute is computed on read, so charts include the current minute.
        yield (
            f"CREATE MATERIALIZED VIEW {rollup.view} WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS "
            f"{rollup.select} GROUP BY 1, 2 WITH NO DATA"
        )
        yield (
            f"SELECT add_continuous_aggregate_policy('{rollup.view}', start_offset => INTERVAL '1 hour', "
            "end_offset => INTERVAL '1 minute', schedule_interval => INTERVAL '1 minute')"
        )
        yield f"SELECT add_retention_policy('{rollup.view}', INTERVAL '{ROLLUP_RETENTION}')"
        return
    columns = ", ".join(
        f"{name} {'double precision' if name.endswith('_avg') else _column_type(rollup, name)}" for name, _ in rollup.aggregates
    )
    yield (
        f"CREATE TABLE {rollup.table} (rnic_id integer NOT NULL, bucket timestamptz NOT NULL, samples bigint NOT NULL, {columns}, "
        "PRIMARY KEY (rnic_id, bucket))"
    )
    yield f"SELECT create_hypertable('{rollup.table}', by_range('bucket', INTERVAL '1 day'), create_default_indexes => false)"
    yield f"CREATE VIEW {rollup.view} AS SELECT * FROM {rollup.table}"  # noqa: S608 - names from the registry


def _column_type(rollup: Rollup, aggregate: str) -> str:
    from wallwatch.store.tables import metadata  # here, because `tables` must stay importable without `editions`

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
    for table in sorted({"event", "finding"}.intersection(tables)):
        yield f"SELECT add_retention_policy('{table}', INTERVAL '{EVENT_RETENTION}')"
