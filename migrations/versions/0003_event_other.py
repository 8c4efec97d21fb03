"""The column `other` of `event`: what the kernel log and the CNI chain say beyond one sentence."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Revision 0001 writes the tables from today's registry, so a new database has the column already.
    op.execute("ALTER TABLE event ADD COLUMN IF NOT EXISTS other JSONB")


def downgrade() -> None:
    op.execute("ALTER TABLE event DROP COLUMN IF EXISTS other")
