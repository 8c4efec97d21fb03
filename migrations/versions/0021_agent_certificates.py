"""Authorities that sign certificates of agents, and the certificates; an agent that has one needs no secret."""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE agent_authority (
        fingerprint TEXT NOT NULL,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        certificate TEXT NOT NULL,
        private_key BYTEA,
        created_at TIMESTAMP WITH TIME ZONE NOT NULL,
        created_by TEXT NOT NULL,
        not_after TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (fingerprint),
        UNIQUE (seq)
    )
    """,
    """
    CREATE TABLE agent_certificate (
        fingerprint TEXT NOT NULL,
        serial TEXT NOT NULL,
        agent_id UUID NOT NULL REFERENCES agent (id) ON DELETE CASCADE,
        authority TEXT NOT NULL,
        issued_at TIMESTAMP WITH TIME ZONE NOT NULL,
        not_after TIMESTAMP WITH TIME ZONE NOT NULL,
        used_at TIMESTAMP WITH TIME ZONE,
        revoked_at TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (fingerprint)
    )
    """,
    "CREATE INDEX ix_agent_certificate_agent_id ON agent_certificate (agent_id)",
    "ALTER TABLE agent ALTER COLUMN secret_hash DROP NOT NULL",
)

DOWNGRADE = (
    # Agents with certificates alone cannot connect without them: they are enrolled again.
    "DELETE FROM agent WHERE secret_hash IS NULL",
    "ALTER TABLE agent ALTER COLUMN secret_hash SET NOT NULL",
    "DROP TABLE agent_certificate",
    "DROP TABLE agent_authority",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
