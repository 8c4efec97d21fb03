"""Isolation: broken seconds and minutes of each VF, their days, the newest state, SLO classes and rules."""

from __future__ import annotations

from alembic import context, op

from wallwatch.store.editions import Edition, aggregate_statements, drop_statements, edition_of, lifecycle_statements
from wallwatch.store.isolation_tables import HYPERTABLES
from wallwatch.store.rollups import Rollup
from wallwatch.store.tables import metadata

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

TABLES = ["vf_broken", "vf_minute", "rnic_isolation"]

VF_DAY = Rollup(
    view="vf_day",
    table="vf_day_rollup",
    source="vf_minute",
    aggregates=tuple((name, f"sum({name})") for name in ("kept_s", "broken_s", "unknown_s", "not_promised_s", "aggressor_s")),
    width="1 day",
    keys=("rnic_id", "vf", "tenant", "pod"),
)
"""Days from minutes, as they are until revision 0015."""

UPGRADE = (
    """
    CREATE TABLE slo_class (
        name TEXT NOT NULL,
        min_mbps DOUBLE PRECISION NOT NULL,
        max_mbps DOUBLE PRECISION NOT NULL,
        p50_us DOUBLE PRECISION,
        p99_us DOUBLE PRECISION,
        loss DOUBLE PRECISION,
        description TEXT NOT NULL,
        version INTEGER NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        updated_by TEXT NOT NULL,
        CONSTRAINT slo_class_envelope_check CHECK (min_mbps >= 0 AND max_mbps > 0 AND min_mbps <= max_mbps),
        PRIMARY KEY (name)
    )
    """,
    """
    CREATE TABLE slo_rule (
        position INTEGER NOT NULL,
        matchers JSONB NOT NULL,
        slo_class TEXT NOT NULL REFERENCES slo_class (name),
        PRIMARY KEY (position)
    )
    """,
    """
    CREATE TABLE slo_rule_version (
        id INTEGER NOT NULL CHECK (id = 1),
        version INTEGER NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        updated_by TEXT NOT NULL,
        PRIMARY KEY (id)
    )
    """,
)

DOWNGRADE = ("DROP TABLE slo_rule_version", "DROP TABLE slo_rule", "DROP TABLE slo_class")


def _edition() -> Edition:
    if context.is_offline_mode():
        return Edition(context.get_x_argument(as_dictionary=True)["timescaledb"])
    return edition_of(op.get_bind())


def upgrade() -> None:
    bind = op.get_bind()
    for name in TABLES:
        metadata.tables[name].create(bind)
    for name, interval in HYPERTABLES.items():
        op.execute(f"SELECT create_hypertable('{name}', by_range('time', INTERVAL '{interval}'), create_default_indexes => false)")
    edition = _edition()
    for statement in aggregate_statements(VF_DAY, edition):
        op.execute(statement)
    for statement in lifecycle_statements(edition, TABLES):
        op.execute(statement)
    for statement in UPGRADE:
        op.execute(statement)
    # A new installation has it already: 0001 builds the table with its indexes.
    op.execute("CREATE INDEX IF NOT EXISTS event_container_time ON event (time DESC) WHERE kind IN ('cni_add', 'cni_del', 'host_booted')")


def downgrade() -> None:
    """Broken seconds, SLO classes and rules are lost."""
    edition = _edition()
    op.execute("DROP INDEX IF EXISTS event_container_time")
    for statement in DOWNGRADE:
        op.execute(statement)
    for statement in drop_statements(VF_DAY, edition):
        op.execute(statement)
    for name in reversed(TABLES):
        op.execute(f"DROP TABLE {name}")
