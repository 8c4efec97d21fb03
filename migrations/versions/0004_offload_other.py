"""The column `other` of `offload_sample` and `datapath_sample`: fields that need no column of their own."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = ("offload_sample", "datapath_sample")


def upgrade() -> None:
    # Revision 0001 writes the tables from today's registry, so a new database has the column already.
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS other JSONB")


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} DROP COLUMN IF EXISTS other")
