"""Rules of the automatic mode may wait for a predicted decline and have a mask plan made; a run tells each of its steps."""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

UPGRADE = (
    "ALTER TABLE automation_rule ADD COLUMN trigger TEXT NOT NULL DEFAULT 'finding'",
    "ALTER TABLE automation_rule ALTER COLUMN trigger DROP DEFAULT",
    "ALTER TABLE automation_run ADD COLUMN plan_id UUID",
    "ALTER TABLE automation_run ADD COLUMN steps JSONB NOT NULL DEFAULT '[]'",
    "ALTER TABLE automation_run ALTER COLUMN steps DROP DEFAULT",
    "ALTER TABLE automation_run ALTER COLUMN finding_id DROP NOT NULL",
    "ALTER TABLE automation_run ALTER COLUMN incident_id DROP NOT NULL",
    "ALTER TABLE automation_run ALTER COLUMN dry_run_id DROP NOT NULL",
)

DOWNGRADE = (
    # Runs that the version before cannot hold, and the rules behind them, which it would carry out otherwise.
    "DELETE FROM automation_rule WHERE trigger <> 'finding' OR action = 'apply-mask-plan'",
    "ALTER TABLE automation_run ALTER COLUMN dry_run_id SET NOT NULL",
    "ALTER TABLE automation_run ALTER COLUMN incident_id SET NOT NULL",
    "ALTER TABLE automation_run ALTER COLUMN finding_id SET NOT NULL",
    "ALTER TABLE automation_run DROP COLUMN steps",
    "ALTER TABLE automation_run DROP COLUMN plan_id",
    "ALTER TABLE automation_rule DROP COLUMN trigger",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
