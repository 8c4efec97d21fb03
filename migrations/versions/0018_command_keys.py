"""Keys that sign commands, and which of them each agent trusts."""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE command_key (
        kid TEXT NOT NULL,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        public_key TEXT NOT NULL,
        private_key BYTEA,
        introduction TEXT,
        created_at TIMESTAMP WITH TIME ZONE NOT NULL,
        created_by TEXT NOT NULL,
        not_after TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (kid),
        UNIQUE (seq)
    )
    """,
    "ALTER TABLE agent ADD COLUMN command_kids TEXT[]",
)

DOWNGRADE = ("ALTER TABLE agent DROP COLUMN command_kids", "DROP TABLE command_key")


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
