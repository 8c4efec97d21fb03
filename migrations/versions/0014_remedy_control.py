"""Approval of remedies by a second person, emergency stops, and resets of circuit breakers."""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

UPGRADE = (
    "ALTER TABLE remedy ADD COLUMN decided_by TEXT, ADD COLUMN decided_at TIMESTAMP WITH TIME ZONE",
    "CREATE INDEX remedy_proposed ON remedy (created_at) WHERE state = 'proposed'",
    "CREATE INDEX remedy_judged ON remedy (action, updated_at) WHERE mode = 'apply'",
    """
    CREATE TABLE remedy_stop (
        id UUID NOT NULL,
        at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        by TEXT NOT NULL,
        reason TEXT NOT NULL,
        ended_at TIMESTAMP WITH TIME ZONE,
        ended_by TEXT,
        PRIMARY KEY (id)
    )
    """,
    "CREATE UNIQUE INDEX remedy_stop_one ON remedy_stop ((ended_at IS NULL)) WHERE ended_at IS NULL",
    """
    CREATE TABLE remedy_breaker_reset (
        action TEXT NOT NULL,
        at TIMESTAMP WITH TIME ZONE NOT NULL,
        by TEXT NOT NULL,
        PRIMARY KEY (action)
    )
    """,
)

DOWNGRADE = (
    "DROP TABLE remedy_breaker_reset",
    "DROP TABLE remedy_stop",
    "DROP INDEX remedy_judged",
    "DROP INDEX remedy_proposed",
    # The states before know neither; nothing of both was ever on a host.
    "UPDATE remedy SET state = 'expired', message = 'It waited for approval when the database was taken back.' WHERE state = 'proposed'",
    "UPDATE remedy SET state = 'refused' WHERE state = 'rejected'",
    "ALTER TABLE remedy DROP COLUMN decided_by, DROP COLUMN decided_at",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
