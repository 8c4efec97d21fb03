"""Policies: operators' own with their versions, the compiled tables that agents have, and a view of those in force for the jobs."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE policy (
        id TEXT NOT NULL,
        own BOOLEAN NOT NULL,
        enabled BOOLEAN NOT NULL,
        running INTEGER,
        newest INTEGER NOT NULL,
        version INTEGER NOT NULL,
        created_by TEXT NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        updated_by TEXT NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE TABLE policy_version (
        policy_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        definition JSONB NOT NULL,
        note TEXT NOT NULL,
        saved_by TEXT NOT NULL,
        saved_at TIMESTAMPTZ NOT NULL,
        enabled_by TEXT,
        enabled_at TIMESTAMPTZ,
        PRIMARY KEY (policy_id, number),
        FOREIGN KEY (policy_id) REFERENCES policy (id) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE policy_tables (
        hash TEXT NOT NULL,
        made_at TIMESTAMPTZ NOT NULL,
        policies JSONB NOT NULL,
        PRIMARY KEY (hash)
    )
    """,
    """
    CREATE VIEW policy_in_force AS
    SELECT p.id, v.number AS version, p.own, p.enabled, v.definition
    FROM policy p LEFT JOIN policy_version v ON v.policy_id = p.id AND v.number = p.running
    WHERE p.own = p.enabled
    """,
)

DOWNGRADE = (
    "DROP VIEW policy_in_force",
    "DROP TABLE policy_tables",
    "DROP TABLE policy_version",
    "DROP TABLE policy",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
