"""Enrolment tokens remember how they were answered, so that an agent whose answer was lost gets it again."""

from __future__ import annotations

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

UPGRADE = (
    "ALTER TABLE enrolment_token ADD COLUMN csr_hash BYTEA, ADD COLUMN certificate TEXT, ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0",
)
DOWNGRADE = ("ALTER TABLE enrolment_token DROP COLUMN csr_hash, DROP COLUMN certificate, DROP COLUMN repeats",)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Used tokens are not answered again."""
    for statement in DOWNGRADE:
        op.execute(statement)
