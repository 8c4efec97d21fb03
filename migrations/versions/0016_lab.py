"""The lab: devices under test, campaigns, and the journal of each."""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE lab_device (
        name TEXT NOT NULL,
        command_key TEXT NOT NULL,
        model TEXT,
        host TEXT,
        pci TEXT,
        description JSONB,
        problem TEXT,
        runner TEXT NOT NULL,
        seen_at TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (name)
    )
    """,
    """
    CREATE TABLE lab_campaign (
        id UUID NOT NULL,
        device TEXT NOT NULL REFERENCES lab_device (name),
        options JSONB NOT NULL,
        state TEXT NOT NULL,
        requested_by TEXT NOT NULL,
        created_at TIMESTAMPTZ NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        started_at TIMESTAMPTZ,
        ended_at TIMESTAMPTZ,
        incident_id UUID REFERENCES incident (id) ON DELETE SET NULL,
        runner TEXT,
        heartbeat_at TIMESTAMPTZ,
        stop_requested_at TIMESTAMPTZ,
        stop_requested_by TEXT,
        stop_reason TEXT,
        message TEXT,
        progress JSONB,
        report JSONB,
        announced_at TIMESTAMPTZ,
        CONSTRAINT lab_campaign_state_check CHECK (state IN ('queued', 'running', 'finished', 'stopped', 'failed')),
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX lab_campaign_created ON lab_campaign (created_at, id)",
    "CREATE INDEX ix_lab_campaign_incident_id ON lab_campaign (incident_id)",
    "CREATE INDEX lab_campaign_open ON lab_campaign (state, created_at) WHERE state IN ('queued', 'running')",
    "CREATE UNIQUE INDEX lab_campaign_device_running ON lab_campaign (device) WHERE state = 'running'",
    "CREATE INDEX lab_campaign_unannounced ON lab_campaign (ended_at) WHERE ended_at IS NOT NULL AND announced_at IS NULL",
    """
    CREATE TABLE lab_test (
        campaign_id UUID NOT NULL REFERENCES lab_campaign (id) ON DELETE CASCADE,
        line INTEGER NOT NULL,
        entry JSONB NOT NULL,
        PRIMARY KEY (campaign_id, line)
    )
    """,
)

DOWNGRADE = ("DROP TABLE lab_test", "DROP TABLE lab_campaign", "DROP TABLE lab_device")


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Campaigns, their journals and their reports are lost."""
    for statement in DOWNGRADE:
        op.execute(statement)
