"""Webhooks with formats, routing, groups and repeat intervals; an outbox of events that survives a restart at any point."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

UPGRADE = (
    # Webhooks that exist go on as they were: every event at once, in the native form. Defaults fill the rows and are then dropped.
    """
    ALTER TABLE webhook
        ADD COLUMN format TEXT NOT NULL DEFAULT 'native',
        ADD COLUMN matchers JSONB NOT NULL DEFAULT '[]',
        ADD COLUMN group_by TEXT[] NOT NULL DEFAULT '{}',
        ADD COLUMN group_wait_s INTEGER NOT NULL DEFAULT 0,
        ADD COLUMN group_interval_s INTEGER NOT NULL DEFAULT 0,
        ADD COLUMN repeat_interval_s INTEGER
    """,
    """
    ALTER TABLE webhook
        ALTER COLUMN format DROP DEFAULT,
        ALTER COLUMN matchers DROP DEFAULT,
        ALTER COLUMN group_by DROP DEFAULT,
        ALTER COLUMN group_wait_s DROP DEFAULT,
        ALTER COLUMN group_interval_s DROP DEFAULT
    """,
    """
    ALTER TABLE webhook_delivery
        ADD COLUMN seq BIGINT GENERATED ALWAYS AS IDENTITY,
        ADD COLUMN subject TEXT NOT NULL DEFAULT '',
        ADD COLUMN about TEXT NOT NULL DEFAULT ''
    """,
    "UPDATE webhook_delivery SET subject = id::text",  # nothing is known of their order, so none waits for another
    "ALTER TABLE webhook_delivery ALTER COLUMN subject DROP DEFAULT, ALTER COLUMN about DROP DEFAULT",
    "CREATE INDEX webhook_delivery_subject ON webhook_delivery (webhook_id, subject, seq) WHERE state = 'pending'",
    "CREATE INDEX webhook_delivery_failed ON webhook_delivery (created_at, id) WHERE state = 'failed'",
    """
    CREATE TABLE webhook_event (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        incident_id UUID NOT NULL,
        event TEXT NOT NULL,
        data JSONB NOT NULL,
        at TIMESTAMP WITH TIME ZONE NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE webhook_group (
        id UUID NOT NULL,
        webhook_id UUID NOT NULL,
        key TEXT NOT NULL,
        labels JSONB NOT NULL,
        due_at TIMESTAMP WITH TIME ZONE,
        last_sent_at TIMESTAMP WITH TIME ZONE,
        repeat_at TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (id),
        FOREIGN KEY(webhook_id) REFERENCES webhook (id) ON DELETE CASCADE
    )
    """,
    "CREATE UNIQUE INDEX webhook_group_key ON webhook_group (webhook_id, key)",
    "CREATE INDEX webhook_group_due ON webhook_group (due_at) WHERE due_at IS NOT NULL",
    "CREATE INDEX webhook_group_repeat ON webhook_group (repeat_at) WHERE repeat_at IS NOT NULL",
    """
    CREATE TABLE webhook_member (
        webhook_id UUID NOT NULL,
        incident_id UUID NOT NULL,
        group_id UUID NOT NULL,
        event TEXT,
        state TEXT NOT NULL,
        told BOOLEAN NOT NULL,
        data JSONB NOT NULL,
        changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
        PRIMARY KEY (webhook_id, incident_id),
        FOREIGN KEY(webhook_id) REFERENCES webhook (id) ON DELETE CASCADE,
        FOREIGN KEY(group_id) REFERENCES webhook_group (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_webhook_member_group_id ON webhook_member (group_id)",
    "CREATE INDEX ix_webhook_member_incident_id ON webhook_member (incident_id)",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE webhook_member, webhook_group, webhook_event")
    op.execute("DROP INDEX webhook_delivery_subject, webhook_delivery_failed")
    op.execute("ALTER TABLE webhook_delivery DROP COLUMN seq, DROP COLUMN subject, DROP COLUMN about")
    op.execute(
        "ALTER TABLE webhook DROP COLUMN format, DROP COLUMN matchers, DROP COLUMN group_by, "
        "DROP COLUMN group_wait_s, DROP COLUMN group_interval_s, DROP COLUMN repeat_interval_s"
    )
