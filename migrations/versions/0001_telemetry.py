"""Telemetry: dimensions, hypertables, one-minute aggregates, the newest state of each RNIC, forecasts.

The tables are written out by the code that also reads the metric registry. A later field is a later revision that adds its column, so
an old database and a new one end up alike.
"""

from __future__ import annotations

from alembic import context, op

from wallwatch.store.editions import Edition, aggregate_statements, edition_of, lifecycle_statements
from wallwatch.store.rollups import ROLLUPS, Rollup
from wallwatch.store.tables import HYPERTABLES, metadata

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = [
    "rnic",
    "host",
    "rnic_sample",
    "offload_sample",
    "mask_sample",
    "datapath_sample",
    "event",
    "finding",
    "rnic_state",
    "dead_letter_count",
    "vf_sample",
    "policy_sample",
    "forecast",
    "rnic_forecast",
    "forecast_model",
    "forecast_model_change",
]


def _edition() -> Edition:
    if context.is_offline_mode():
        return Edition(context.get_x_argument(as_dictionary=True)["timescaledb"])
    return edition_of(op.get_bind())


def _rollups() -> list[Rollup]:
    return [rollup for rollup in ROLLUPS if rollup.source in TABLES]


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS timescaledb")
    bind = op.get_bind()
    for name in TABLES:
        metadata.tables[name].create(bind)
    op.execute("CREATE SEQUENCE rnic_state_change_seq_values")
    for name, interval in HYPERTABLES.items():
        if name not in TABLES:  # of a later revision
            continue
        # The unique index already serves every query by identity and time; an index on time alone would only slow the writes.
        op.execute(f"SELECT create_hypertable('{name}', by_range('time', INTERVAL '{interval}'), create_default_indexes => false)")
    edition = _edition()
    for rollup in _rollups():
        for statement in aggregate_statements(rollup, edition):
            op.execute(statement)
    for statement in lifecycle_statements(edition, TABLES):
        op.execute(statement)


def downgrade() -> None:
    edition = _edition()
    for rollup in _rollups():
        if edition is Edition.COMMUNITY:
            op.execute(f"DROP MATERIALIZED VIEW {rollup.view}")
        else:
            op.execute(f"DROP VIEW {rollup.view}")
            op.execute(f"DROP TABLE {rollup.table}")
    op.execute("DROP SEQUENCE rnic_state_change_seq_values")
    for name in reversed(TABLES):
        op.execute(f"DROP TABLE {name}")
