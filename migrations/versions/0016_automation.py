"""The automatic mode: rules, and what came of each."""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE automation_rule (
        id UUID NOT NULL,
        name TEXT NOT NULL,
        action TEXT NOT NULL,
        params JSONB NOT NULL,
        matchers JSONB NOT NULL,
        enabled BOOLEAN NOT NULL,
        window_from TEXT,
        window_to TEXT,
        cooldown_s INTEGER NOT NULL,
        created_by TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
        enabled_by TEXT,
        enabled_at TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (id),
        UNIQUE (name)
    )
    """,
    """
    CREATE TABLE automation_run (
        id UUID NOT NULL,
        rule_id UUID NOT NULL,
        finding_id UUID NOT NULL,
        incident_id UUID NOT NULL,
        host TEXT NOT NULL,
        pci TEXT NOT NULL,
        state TEXT NOT NULL,
        message TEXT,
        dry_run_id UUID NOT NULL,
        remedy_id UUID,
        created_at TIMESTAMP WITH TIME ZONE NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
        ended_at TIMESTAMP WITH TIME ZONE,
        PRIMARY KEY (id),
        FOREIGN KEY(rule_id) REFERENCES automation_rule (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX automation_run_log ON automation_run (rule_id, created_at, id)",
    "CREATE UNIQUE INDEX automation_run_open ON automation_run (rule_id, host, pci) WHERE ended_at IS NULL",
)

DOWNGRADE = ("DROP TABLE automation_run", "DROP TABLE automation_rule")


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
