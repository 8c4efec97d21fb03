"""Verdicts of policies over time, and the index that finds violations of one policy."""

from __future__ import annotations

from alembic import context, op

from wallwatch.store.editions import Edition, edition_of, lifecycle_statements
from wallwatch.store.tables import HYPERTABLES, metadata

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLE = "policy_sample"


def _edition() -> Edition:
    if context.is_offline_mode():
        return Edition(context.get_x_argument(as_dictionary=True)["timescaledb"])
    return edition_of(op.get_bind())


def upgrade() -> None:
    metadata.tables[TABLE].create(op.get_bind())
    interval = HYPERTABLES[TABLE]
    op.execute(f"SELECT create_hypertable('{TABLE}', by_range('time', INTERVAL '{interval}'), create_default_indexes => false)")
    for statement in lifecycle_statements(_edition(), [TABLE]):
        op.execute(statement)
    # Revision 0001 writes the table from today's definition, so a new database has the index already.
    op.execute("CREATE INDEX IF NOT EXISTS event_policy_violated ON event ((other->>'policy'), time DESC) WHERE kind = 'policy_violated'")


def downgrade() -> None:
    op.execute("DROP INDEX IF EXISTS event_policy_violated")
    op.execute(f"DROP TABLE {TABLE}")
