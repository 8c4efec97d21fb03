"""Samples of network functions that run on SmartNICs: counters, CPU, traffic and throughput."""

from __future__ import annotations

from alembic import context, op

from wallwatch.store.editions import Edition, edition_of

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE function_sample (
        time TIMESTAMPTZ NOT NULL,
        rnic_id INTEGER NOT NULL,
        function TEXT NOT NULL,
        container TEXT NOT NULL DEFAULT '',
        pod TEXT NOT NULL DEFAULT '',
        instructions_per_cycle DOUBLE PRECISION,
        instructions_per_s DOUBLE PRECISION,
        cache_reads_per_s DOUBLE PRECISION,
        cache_writes_per_s DOUBLE PRECISION,
        memory_reads_per_s DOUBLE PRECISION,
        memory_writes_per_s DOUBLE PRECISION,
        working_set_mb DOUBLE PRECISION,
        cpu_share DOUBLE PRECISION,
        cores DOUBLE PRECISION,
        flows BIGINT,
        packet_bytes DOUBLE PRECISION,
        mtbr_per_mb DOUBLE PRECISION,
        throughput_kpps DOUBLE PRECISION,
        offered_kpps DOUBLE PRECISION,
        other JSONB
    )
    """,
    "CREATE UNIQUE INDEX function_sample_key ON function_sample (rnic_id, time, function, container)",
    "SELECT create_hypertable('function_sample', by_range('time', INTERVAL '6 hours'), create_default_indexes => false)",
)

COMMUNITY = (
    """
    ALTER TABLE function_sample SET (timescaledb.enable_columnstore,
        timescaledb.segmentby = 'rnic_id', timescaledb.orderby = 'time DESC, function, container')
    """,
    "CALL add_columnstore_policy('function_sample', after => INTERVAL '2 hours')",
    "SELECT add_retention_policy('function_sample', INTERVAL '7 days')",
)


def _edition() -> Edition:
    if context.is_offline_mode():
        return Edition(context.get_x_argument(as_dictionary=True)["timescaledb"])
    return edition_of(op.get_bind())


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)
    if _edition() is Edition.COMMUNITY:
        for statement in COMMUNITY:
            op.execute(statement)


def downgrade() -> None:
    """The samples are lost."""
    op.execute("DROP TABLE function_sample")
