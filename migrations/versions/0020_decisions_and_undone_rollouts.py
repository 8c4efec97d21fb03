"""Who decides may comment, and a whole rollout can be taken back."""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

UPGRADE = (
    "ALTER TABLE remedy ADD COLUMN decision_comment TEXT",
    "ALTER TABLE rollout ADD COLUMN decision_comment TEXT",
    "ALTER TABLE rollout ADD COLUMN undo JSONB",
    "DROP INDEX rollout_running",
    "CREATE INDEX rollout_under_way ON rollout (state) WHERE state IN ('running', 'undoing')",
)

DOWNGRADE = (
    "UPDATE rollout SET state = 'stopped' WHERE state IN ('undoing', 'undo_paused', 'undone')",
    "DROP INDEX rollout_under_way",
    "CREATE INDEX rollout_running ON rollout (state) WHERE state = 'running'",
    "ALTER TABLE rollout DROP COLUMN undo",
    "ALTER TABLE rollout DROP COLUMN decision_comment",
    "ALTER TABLE remedy DROP COLUMN decision_comment",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
