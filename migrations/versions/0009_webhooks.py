"""Webhooks: deliveries and their attempts, an outbox of events that survives a restart, groups."""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE webhook (
        id UUID NOT NULL,
        name TEXT NOT NULL,
        url TEXT NOT NULL,
        events TEXT[] NOT NULL,
        secret BYTEA NOT NULL,
        enabled BOOLEAN NOT NULL,
        disabled_reason TEXT,
        failing_since TIMESTAMPTZ,
        last_delivery_at TIMESTAMPTZ,
        created_by TEXT NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        format TEXT NOT NULL,
        matchers JSONB NOT NULL,
        group_by TEXT[] NOT NULL,
        group_wait_s INTEGER NOT NULL,
        group_interval_s INTEGER NOT NULL,
        repeat_interval_s INTEGER,
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE webhook_delivery (
        id UUID NOT NULL,
        webhook_id UUID NOT NULL,
        event TEXT NOT NULL,
        body TEXT NOT NULL,
        state TEXT NOT NULL,
        attempt_count INTEGER NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        next_attempt_at TIMESTAMPTZ,
        delivered_at TIMESTAMPTZ,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        subject TEXT NOT NULL,
        about TEXT NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY (webhook_id) REFERENCES webhook (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX webhook_delivery_due ON webhook_delivery (next_attempt_at) WHERE state = 'pending'",
    "CREATE INDEX webhook_delivery_failed ON webhook_delivery (created_at, id) WHERE state = 'failed'",
    "CREATE INDEX webhook_delivery_log ON webhook_delivery (webhook_id, created_at, id)",
    "CREATE INDEX webhook_delivery_subject ON webhook_delivery (webhook_id, subject, seq) WHERE state = 'pending'",
    """
    CREATE TABLE webhook_attempt (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        delivery_id UUID NOT NULL,
        at TIMESTAMPTZ NOT NULL,
        status INTEGER,
        duration_ms INTEGER NOT NULL,
        error TEXT,
        PRIMARY KEY (id),
        FOREIGN KEY (delivery_id) REFERENCES webhook_delivery (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_webhook_attempt_delivery_id ON webhook_attempt (delivery_id)",
    """
    CREATE TABLE webhook_event (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        incident_id UUID NOT NULL,
        event TEXT NOT NULL,
        data JSONB NOT NULL,
        at TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE webhook_group (
        id UUID NOT NULL,
        webhook_id UUID NOT NULL,
        key TEXT NOT NULL,
        labels JSONB NOT NULL,
        due_at TIMESTAMPTZ,
        last_sent_at TIMESTAMPTZ,
        repeat_at TIMESTAMPTZ,
        PRIMARY KEY (id),
        FOREIGN KEY (webhook_id) REFERENCES webhook (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX webhook_group_due ON webhook_group (due_at) WHERE due_at IS NOT NULL",
    "CREATE UNIQUE INDEX webhook_group_key ON webhook_group (webhook_id, key)",
    "CREATE INDEX webhook_group_repeat ON webhook_group (repeat_at) WHERE repeat_at IS NOT NULL",
    """
    CREATE TABLE webhook_member (
        webhook_id UUID NOT NULL,
        incident_id UUID NOT NULL,
        group_id UUID NOT NULL,
        event TEXT,
        state TEXT NOT NULL,
        notified BOOLEAN NOT NULL,
        data JSONB NOT NULL,
        changed_at TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (webhook_id, incident_id),
        FOREIGN KEY (group_id) REFERENCES webhook_group (id) ON DELETE CASCADE,
        FOREIGN KEY (webhook_id) REFERENCES webhook (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_webhook_member_group_id ON webhook_member (group_id)",
    "CREATE INDEX ix_webhook_member_incident_id ON webhook_member (incident_id)",
)

DOWNGRADE = (
    "DROP TABLE webhook_member",
    "DROP TABLE webhook_group",
    "DROP TABLE webhook_event",
    "DROP TABLE webhook_attempt",
    "DROP TABLE webhook_delivery",
    "DROP TABLE webhook",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
