"""The lab: a second person's approval of campaigns on RNICs of the fleet."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_BEFORE = "'queued', 'running', 'finished', 'stopped', 'failed'"

UPGRADE = (
    "ALTER TABLE lab_campaign ADD COLUMN decided_by TEXT, ADD COLUMN decided_at TIMESTAMPTZ, ADD COLUMN decision_comment TEXT",
    "ALTER TABLE lab_campaign ADD COLUMN requester_ids UUID[] NOT NULL DEFAULT '{}'",
    "ALTER TABLE lab_campaign DROP CONSTRAINT lab_campaign_state_check",
    f"ALTER TABLE lab_campaign ADD CONSTRAINT lab_campaign_state_check CHECK (state IN ('pending', 'rejected', 'expired', {_BEFORE}))",
    "DROP INDEX lab_campaign_open",
    "CREATE INDEX lab_campaign_open ON lab_campaign (state, created_at) WHERE state IN ('pending', 'queued', 'running')",
)

DOWNGRADE = (
    # Nothing must run that nobody approved, so what waits or was turned down counts as stopped.
    """
    UPDATE lab_campaign SET state = 'stopped', ended_at = COALESCE(ended_at, now()), announced_at = COALESCE(announced_at, now())
    WHERE state IN ('pending', 'rejected', 'expired')
    """,
    "DROP INDEX lab_campaign_open",
    "CREATE INDEX lab_campaign_open ON lab_campaign (state, created_at) WHERE state IN ('queued', 'running')",
    "ALTER TABLE lab_campaign DROP CONSTRAINT lab_campaign_state_check",
    f"ALTER TABLE lab_campaign ADD CONSTRAINT lab_campaign_state_check CHECK (state IN ({_BEFORE}))",
    "ALTER TABLE lab_campaign DROP COLUMN decided_by, DROP COLUMN decided_at, DROP COLUMN decision_comment, DROP COLUMN requester_ids",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Who approved a campaign is lost; those that waited for approval, were rejected or expired become stopped ones."""
    for statement in DOWNGRADE:
        op.execute(statement)
