"""A decline is said since a time, also where it is not known when it comes; and what became of the models that forecast."""

from __future__ import annotations

from alembic import op

from wallwatch.store.tables import metadata

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

TABLE = "forecast_model_change"


def upgrade() -> None:
    op.execute("ALTER TABLE rnic_forecast ADD COLUMN IF NOT EXISTS decline_since TIMESTAMPTZ")
    op.execute(
        "UPDATE rnic_forecast SET decline_since = COALESCE((body #>> '{decline,since}')::timestamptz, made_at) "
        "WHERE decline_in_s IS NOT NULL"
    )
    metadata.tables[TABLE].create(op.get_bind())


def downgrade() -> None:
    # The version before knows a decline by its time alone, and took the hour where that is not known.
    op.execute("UPDATE rnic_forecast SET decline_in_s = 3600 WHERE decline_since IS NOT NULL AND decline_in_s IS NULL")
    op.execute("ALTER TABLE rnic_forecast DROP COLUMN decline_since")
    op.execute(f"DROP TABLE {TABLE}")
