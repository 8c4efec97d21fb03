"""Control: accounts, tokens, audit, agents, incidents, remedies, webhooks.

Written out in SQL, so that this revision stays what it was when the models move on; a test compares the two.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE agent (
        id UUID NOT NULL,
        host TEXT NOT NULL,
        secret_hash BYTEA NOT NULL,
        instance_uid TEXT NOT NULL,
        version TEXT,
        enrolled_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        connection_id UUID,
        healthy BOOLEAN,
        health_error TEXT,
        last_seen_at TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (id),
        UNIQUE (host)
    )
    """,
    """
    CREATE TABLE api_token (
        id UUID NOT NULL,
        name TEXT NOT NULL,
        role TEXT NOT NULL,
        prefix TEXT NOT NULL,
        token_hash BYTEA NOT NULL,
        created_by TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE,
        last_used_at TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (id),
        UNIQUE (token_hash)
    )
    """,
    """
    CREATE TABLE audit_event (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        target TEXT NOT NULL,
        outcome TEXT NOT NULL,
        address TEXT,
        detail JSONB NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX audit_event_action_at ON audit_event (action, at)",
    "CREATE INDEX audit_event_actor_at ON audit_event (actor, at)",
    """
    CREATE TABLE enrolment_token (
        id UUID NOT NULL,
        token_hash BYTEA NOT NULL,
        host TEXT,
        created_by TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        used_at TIMESTAMP WITH TIME ZONE,
        used_by TEXT,
        PRIMARY KEY (id),
        UNIQUE (token_hash)
    )
    """,
    """
    CREATE TABLE incident (
        id UUID NOT NULL,
        host TEXT NOT NULL,
        pci TEXT NOT NULL,
        rack TEXT,
        symptom TEXT NOT NULL,
        state TEXT NOT NULL,
        severity TEXT NOT NULL,
        blast_radius TEXT NOT NULL,
        rule TEXT NOT NULL,
        title TEXT NOT NULL,
        summary TEXT NOT NULL,
        finding_id UUID NOT NULL,
        active BOOLEAN NOT NULL,
        opened_at TIMESTAMP WITH TIME ZONE NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
        acknowledged_at TIMESTAMP WITH TIME ZONE,
        acknowledged_by TEXT,
        resolved_at TIMESTAMP WITH TIME ZONE,
        resolved_by TEXT,
        reopened INTEGER NOT NULL,
        top_cause TEXT,
        evidence JSONB NOT NULL,
        hypotheses JSONB NOT NULL,
        remedies JSONB NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE UNIQUE INDEX incident_one_open ON incident (host, pci, symptom) WHERE state <> 'resolved'",
    "CREATE INDEX incident_opened ON incident (opened_at, id)",
    "CREATE INDEX incident_rnic ON incident (host, pci, symptom, resolved_at)",
    """
    CREATE TABLE user_account (
        id UUID NOT NULL,
        username TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        role TEXT NOT NULL,
        disabled BOOLEAN NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        last_sign_in_at TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (id),
        UNIQUE (username)
    )
    """,
    """
    CREATE TABLE webhook (
        id UUID NOT NULL,
        name TEXT NOT NULL,
        url TEXT NOT NULL,
        events TEXT[] NOT NULL,
        secret BYTEA NOT NULL,
        enabled BOOLEAN NOT NULL,
        disabled_reason TEXT,
        failing_since TIMESTAMP WITH TIME ZONE,
        last_delivery_at TIMESTAMP WITH TIME ZONE,
        created_by TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE incident_finding (
        finding_id UUID NOT NULL,
        incident_id UUID NOT NULL,
        started_at TIMESTAMP WITH TIME ZONE NOT NULL,
        last_at TIMESTAMP WITH TIME ZONE NOT NULL,
        cleared_at TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (finding_id),
        FOREIGN KEY(incident_id) REFERENCES incident (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_incident_finding_incident_id ON incident_finding (incident_id)",
    """
    CREATE TABLE incident_timeline (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        incident_id UUID NOT NULL,
        at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        kind TEXT NOT NULL,
        actor TEXT NOT NULL,
        text TEXT NOT NULL,
        data JSONB NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY(incident_id) REFERENCES incident (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_incident_timeline_incident_id ON incident_timeline (incident_id)",
    """
    CREATE TABLE remedy (
        id UUID NOT NULL,
        action TEXT NOT NULL,
        host TEXT NOT NULL,
        pci TEXT,
        params JSONB NOT NULL,
        mode TEXT NOT NULL,
        state TEXT NOT NULL,
        incident_id UUID,
        requested_by TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
        applied_at TIMESTAMP WITH TIME ZONE,
        code TEXT,
        message TEXT,
        operations JSONB NOT NULL,
        verification JSONB,
        idempotency_key TEXT,
        request_hash TEXT NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY(incident_id) REFERENCES incident (id) ON DELETE SET NULL
    )
    """,
    "CREATE INDEX ix_remedy_incident_id ON remedy (incident_id)",
    "CREATE INDEX remedy_created ON remedy (created_at, id)",
    "CREATE INDEX remedy_host ON remedy (host, pci)",
    "CREATE UNIQUE INDEX remedy_idempotency ON remedy (requested_by, idempotency_key) WHERE idempotency_key IS NOT NULL",
    "CREATE INDEX remedy_to_verify ON remedy (state) WHERE state = 'applied'",
    """
    CREATE TABLE user_session (
        secret_hash BYTEA NOT NULL,
        user_id UUID NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        address TEXT,
        PRIMARY KEY (secret_hash),
        FOREIGN KEY(user_id) REFERENCES user_account (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_user_session_expires_at ON user_session (expires_at)",
    "CREATE INDEX ix_user_session_user_id ON user_session (user_id)",
    """
    CREATE TABLE webhook_delivery (
        id UUID NOT NULL,
        webhook_id UUID NOT NULL,
        event TEXT NOT NULL,
        body TEXT NOT NULL,
        state TEXT NOT NULL,
        attempt_count INTEGER NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        next_attempt_at TIMESTAMP WITH TIME ZONE,
        delivered_at TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (id),
        FOREIGN KEY(webhook_id) REFERENCES webhook (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX webhook_delivery_due ON webhook_delivery (next_attempt_at) WHERE state = 'pending'",
    "CREATE INDEX webhook_delivery_log ON webhook_delivery (webhook_id, created_at, id)",
    """
    CREATE TABLE remedy_command (
        id UUID NOT NULL,
        remedy_id UUID NOT NULL,
        host TEXT NOT NULL,
        operation TEXT NOT NULL,
        state TEXT NOT NULL,
        jws TEXT NOT NULL,
        issued_at TIMESTAMP WITH TIME ZONE NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        sent_at TIMESTAMP WITH TIME ZONE,
        finished_at TIMESTAMP WITH TIME ZONE,
        code TEXT,
        message TEXT,
        result JSONB,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY(remedy_id) REFERENCES remedy (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_remedy_command_remedy_id ON remedy_command (remedy_id)",
    "CREATE INDEX remedy_command_open ON remedy_command (host) WHERE state IN ('pending', 'dispatched')",
    """
    CREATE TABLE webhook_attempt (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        delivery_id UUID NOT NULL,
        at TIMESTAMP WITH TIME ZONE NOT NULL,
        status INTEGER,
        duration_ms INTEGER NOT NULL,
        error TEXT,
        PRIMARY KEY (id),
        FOREIGN KEY(delivery_id) REFERENCES webhook_delivery (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_webhook_attempt_delivery_id ON webhook_attempt (delivery_id)",
)

TABLES = [
    "agent",
    "api_token",
    "audit_event",
    "enrolment_token",
    "incident",
    "user_account",
    "webhook",
    "incident_finding",
    "incident_timeline",
    "remedy",
    "user_session",
    "webhook_delivery",
    "remedy_command",
    "webhook_attempt",
]


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for name in reversed(TABLES):
        op.execute(f"DROP TABLE {name}")
