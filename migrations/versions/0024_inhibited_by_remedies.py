"""What a remedy of one's own brings about is inhibited: findings and incidents name the remedy."""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

UPGRADE = (
    "ALTER TABLE incident ADD COLUMN inhibited_by UUID",
    "ALTER TABLE incident_finding ADD COLUMN inhibited_by UUID",
    "ALTER TABLE incident_finding ADD COLUMN inhibited_at TIMESTAMPTZ",
    "CREATE INDEX incident_finding_inhibited ON incident_finding (inhibited_by, incident_id) WHERE inhibited_by IS NOT NULL",
    "CREATE INDEX incident_finding_held ON incident_finding (started_at, finding_id)"
    " WHERE inhibited_by IS NOT NULL AND inhibited AND cleared_at IS NULL",
)

DOWNGRADE = (
    # The version before ends a suppression only with its silence, so these would stay suppressed for as long as they last.
    "UPDATE incident SET state = CASE WHEN acknowledged_by IS NOT NULL THEN 'acknowledged' WHEN reopened > 0 THEN 'reopened'"
    " ELSE 'open' END, suppressed_at = NULL WHERE state = 'suppressed' AND suppressed_by IS NULL",
    "UPDATE incident_finding SET inhibited = false WHERE inhibited_by IS NOT NULL",
    "DROP INDEX incident_finding_held",
    "DROP INDEX incident_finding_inhibited",
    "ALTER TABLE incident_finding DROP COLUMN inhibited_at",
    "ALTER TABLE incident_finding DROP COLUMN inhibited_by",
    "ALTER TABLE incident DROP COLUMN inhibited_by",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
