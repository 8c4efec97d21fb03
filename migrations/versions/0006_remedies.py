"""Remedies: orders and commands, rollouts, emergency stops and circuit breakers, automation, mask plans."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE rollout (
        id UUID NOT NULL,
        action TEXT NOT NULL,
        params JSONB NOT NULL,
        waves JSONB NOT NULL,
        state TEXT NOT NULL,
        wave INTEGER NOT NULL,
        wave_began_at TIMESTAMPTZ,
        reason TEXT NOT NULL,
        message TEXT,
        undo_on_stop BOOLEAN NOT NULL,
        not_before TIMESTAMPTZ,
        not_after TIMESTAMPTZ,
        requested_by TEXT NOT NULL,
        decided_by TEXT,
        decided_at TIMESTAMPTZ,
        created_at TIMESTAMPTZ NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        incident_id UUID,
        decision_comment TEXT,
        undo JSONB,
        PRIMARY KEY (id),
        FOREIGN KEY (incident_id) REFERENCES incident (id) ON DELETE SET NULL
    )
    """,
    "CREATE INDEX ix_rollout_incident_id ON rollout (incident_id)",
    "CREATE INDEX rollout_created ON rollout (created_at, id)",
    "CREATE INDEX rollout_under_way ON rollout (state) WHERE state IN ('running', 'undoing')",
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
        created_at TIMESTAMPTZ NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        applied_at TIMESTAMPTZ,
        code TEXT,
        message TEXT,
        operations JSONB NOT NULL,
        verification JSONB,
        idempotency_key TEXT,
        request_hash TEXT NOT NULL,
        decided_by TEXT,
        decided_at TIMESTAMPTZ,
        rollout_id UUID,
        rollout_wave INTEGER,
        decision_comment TEXT,
        PRIMARY KEY (id),
        FOREIGN KEY (incident_id) REFERENCES incident (id) ON DELETE SET NULL,
        FOREIGN KEY (rollout_id) REFERENCES rollout (id) ON DELETE SET NULL
    )
    """,
    "CREATE INDEX ix_remedy_incident_id ON remedy (incident_id)",
    "CREATE INDEX ix_remedy_rollout_id ON remedy (rollout_id)",
    "CREATE INDEX remedy_created ON remedy (created_at, id)",
    "CREATE INDEX remedy_host ON remedy (host, pci)",
    """
    CREATE UNIQUE INDEX remedy_idempotency ON remedy (requested_by, idempotency_key)
    WHERE idempotency_key IS NOT NULL
    """,
    "CREATE INDEX remedy_judged ON remedy (action, updated_at) WHERE mode = 'apply'",
    "CREATE INDEX remedy_pending ON remedy (created_at) WHERE state = 'pending'",
    "CREATE INDEX remedy_to_verify ON remedy (state) WHERE state = 'verifying'",
    """
    CREATE TABLE remedy_command (
        id UUID NOT NULL,
        remedy_id UUID NOT NULL,
        host TEXT NOT NULL,
        operation TEXT NOT NULL,
        state TEXT NOT NULL,
        jws TEXT NOT NULL,
        issued_at TIMESTAMPTZ NOT NULL,
        expires_at TIMESTAMPTZ NOT NULL,
        sent_at TIMESTAMPTZ,
        finished_at TIMESTAMPTZ,
        code TEXT,
        message TEXT,
        result JSONB,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY (remedy_id) REFERENCES remedy (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_remedy_command_remedy_id ON remedy_command (remedy_id)",
    "CREATE INDEX remedy_command_open ON remedy_command (host) WHERE state IN ('queued', 'sent')",
    """
    CREATE TABLE remedy_stop (
        id UUID NOT NULL,
        at TIMESTAMPTZ DEFAULT now() NOT NULL,
        by TEXT NOT NULL,
        reason TEXT NOT NULL,
        ended_at TIMESTAMPTZ,
        ended_by TEXT,
        PRIMARY KEY (id)
    )
    """,
    "CREATE UNIQUE INDEX remedy_stop_one ON remedy_stop ((ended_at IS NULL)) WHERE ended_at IS NULL",
    """
    CREATE TABLE remedy_breaker_reset (
        action TEXT NOT NULL,
        at TIMESTAMPTZ NOT NULL,
        by TEXT NOT NULL,
        PRIMARY KEY (action)
    )
    """,
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
        created_at TIMESTAMPTZ NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        enabled_by TEXT,
        enabled_at TIMESTAMPTZ,
        trigger TEXT NOT NULL,
        PRIMARY KEY (id),
        UNIQUE (name)
    )
    """,
    """
    CREATE TABLE automation_run (
        id UUID NOT NULL,
        rule_id UUID NOT NULL,
        finding_id UUID,
        incident_id UUID,
        host TEXT NOT NULL,
        pci TEXT NOT NULL,
        state TEXT NOT NULL,
        message TEXT,
        dry_run_id UUID,
        remedy_id UUID,
        created_at TIMESTAMPTZ NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        ended_at TIMESTAMPTZ,
        plan_id UUID,
        steps JSONB NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY (rule_id) REFERENCES automation_rule (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX automation_run_log ON automation_run (rule_id, created_at, id)",
    "CREATE UNIQUE INDEX automation_run_open ON automation_run (rule_id, host, pci) WHERE ended_at IS NULL",
    """
    CREATE TABLE mask_plan (
        id UUID NOT NULL,
        host TEXT NOT NULL,
        pci TEXT NOT NULL,
        model TEXT NOT NULL,
        state TEXT NOT NULL,
        trigger TEXT NOT NULL,
        "then" TEXT NOT NULL,
        requested_by TEXT NOT NULL,
        incident_id UUID,
        hyper_capacity INTEGER,
        read_remedy_id UUID NOT NULL,
        applied_by UUID,
        created_at TIMESTAMPTZ NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        flows_at TIMESTAMPTZ,
        expires_at TIMESTAMPTZ,
        code TEXT,
        message TEXT,
        ports JSONB NOT NULL,
        report JSONB,
        flows_sha256 TEXT,
        operations_sha256 TEXT,
        flows BYTEA,
        operations BYTEA,
        flows_after BYTEA,
        progress JSONB,
        aftermath JSONB,
        PRIMARY KEY (id),
        FOREIGN KEY (incident_id) REFERENCES incident (id) ON DELETE SET NULL,
        FOREIGN KEY (read_remedy_id) REFERENCES remedy (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_mask_plan_incident_id ON mask_plan (incident_id)",
    "CREATE INDEX ix_mask_plan_read_remedy_id ON mask_plan (read_remedy_id)",
    "CREATE INDEX mask_plan_created ON mask_plan (created_at, id)",
    "CREATE INDEX mask_plan_open ON mask_plan (state) WHERE state IN ('reading', 'planning')",
    "CREATE INDEX mask_plan_rnic ON mask_plan (host, pci)",
    "CREATE INDEX mask_plan_to_check ON mask_plan (updated_at) WHERE flows_after IS NOT NULL",
)

DOWNGRADE = (
    "DROP TABLE mask_plan",
    "DROP TABLE automation_run",
    "DROP TABLE automation_rule",
    "DROP TABLE remedy_breaker_reset",
    "DROP TABLE remedy_stop",
    "DROP TABLE remedy_command",
    "DROP TABLE remedy",
    "DROP TABLE rollout",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
