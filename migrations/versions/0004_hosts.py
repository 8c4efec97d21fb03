"""Hosts: enrolled agents, their certificates and who signs them, the keys that sign commands, cordoned RNICs."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE agent (
        id UUID NOT NULL,
        host TEXT NOT NULL,
        secret_hash BYTEA,
        instance_uid TEXT NOT NULL,
        version TEXT,
        enrolled_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        connection_id UUID,
        healthy BOOLEAN,
        health_error TEXT,
        last_seen_at TIMESTAMPTZ,
        accepts_config BOOLEAN DEFAULT false NOT NULL,
        config_hash TEXT,
        config_at TIMESTAMPTZ,
        config_refused_hash TEXT,
        config_refused_at TIMESTAMPTZ,
        config_error TEXT,
        command_kids TEXT[],
        PRIMARY KEY (id),
        UNIQUE (host)
    )
    """,
    """
    CREATE TABLE enrolment_token (
        id UUID NOT NULL,
        token_hash BYTEA NOT NULL,
        host TEXT,
        created_by TEXT NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        expires_at TIMESTAMPTZ NOT NULL,
        used_at TIMESTAMPTZ,
        used_by TEXT,
        PRIMARY KEY (id),
        UNIQUE (token_hash)
    )
    """,
    """
    CREATE TABLE agent_authority (
        fingerprint TEXT NOT NULL,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        certificate TEXT NOT NULL,
        private_key BYTEA,
        created_at TIMESTAMPTZ NOT NULL,
        created_by TEXT NOT NULL,
        not_after TIMESTAMPTZ,
        PRIMARY KEY (fingerprint),
        UNIQUE (seq)
    )
    """,
    """
    CREATE TABLE agent_certificate (
        fingerprint TEXT NOT NULL,
        serial TEXT NOT NULL,
        agent_id UUID NOT NULL,
        authority TEXT NOT NULL,
        issued_at TIMESTAMPTZ NOT NULL,
        not_after TIMESTAMPTZ NOT NULL,
        used_at TIMESTAMPTZ,
        revoked_at TIMESTAMPTZ,
        PRIMARY KEY (fingerprint),
        FOREIGN KEY (agent_id) REFERENCES agent (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_agent_certificate_agent_id ON agent_certificate (agent_id)",
    """
    CREATE TABLE command_key (
        kid TEXT NOT NULL,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        public_key TEXT NOT NULL,
        private_key BYTEA,
        introduction TEXT,
        created_at TIMESTAMPTZ NOT NULL,
        created_by TEXT NOT NULL,
        not_after TIMESTAMPTZ,
        PRIMARY KEY (kid),
        UNIQUE (seq)
    )
    """,
    """
    CREATE TABLE rnic_cordon (
        host TEXT NOT NULL,
        pci TEXT NOT NULL,
        cordoned BOOLEAN NOT NULL,
        changed_at TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (host, pci)
    )
    """,
)

DOWNGRADE = (
    "DROP TABLE rnic_cordon",
    "DROP TABLE command_key",
    "DROP TABLE agent_certificate",
    "DROP TABLE agent_authority",
    "DROP TABLE enrolment_token",
    "DROP TABLE agent",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
