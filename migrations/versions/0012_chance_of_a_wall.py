"""The chance that an RNIC reaches its next wall within the hour, and the confidence in its forecast."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Rows are replaced each minute: they get both with the next forecast.
    op.execute("ALTER TABLE rnic_forecast ADD COLUMN IF NOT EXISTS wall_chance DOUBLE PRECISION")
    op.execute("ALTER TABLE rnic_forecast ADD COLUMN IF NOT EXISTS confidence TEXT")


def downgrade() -> None:
    op.execute("ALTER TABLE rnic_forecast DROP COLUMN IF EXISTS confidence")
    op.execute("ALTER TABLE rnic_forecast DROP COLUMN IF EXISTS wall_chance")
