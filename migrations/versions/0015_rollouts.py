"""Rollouts: one remedy on many hosts, a canary first, then in waves."""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE rollout (
        id UUID NOT NULL,
        action TEXT NOT NULL,
        params JSONB NOT NULL,
        waves JSONB NOT NULL,
        state TEXT NOT NULL,
        wave INTEGER NOT NULL,
        wave_began_at TIMESTAMP WITH TIME ZONE,
        reason TEXT NOT NULL,
        message TEXT,
        undo_on_stop BOOLEAN NOT NULL,
        not_before TIMESTAMP WITH TIME ZONE,
        not_after TIMESTAMP WITH TIME ZONE,
        requested_by TEXT NOT NULL,
        decided_by TEXT,
        decided_at TIMESTAMP WITH TIME ZONE,
        created_at TIMESTAMP WITH TIME ZONE NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX rollout_created ON rollout (created_at, id)",
    "CREATE INDEX rollout_running ON rollout (state) WHERE state = 'running'",
    "ALTER TABLE remedy ADD COLUMN rollout_id UUID, ADD COLUMN rollout_wave INTEGER",
    "ALTER TABLE remedy ADD CONSTRAINT remedy_rollout_id_fkey FOREIGN KEY (rollout_id) REFERENCES rollout (id) ON DELETE SET NULL",
    "CREATE INDEX ix_remedy_rollout_id ON remedy (rollout_id)",
)

DOWNGRADE = (
    "ALTER TABLE remedy DROP COLUMN rollout_id, DROP COLUMN rollout_wave",
    "DROP TABLE rollout",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
