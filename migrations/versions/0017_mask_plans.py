"""Mask plans: made of flows that a host's agent reads, proven, and applied by a remedy."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

UPGRADE = (
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
        created_at TIMESTAMP WITH TIME ZONE NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
        flows_at TIMESTAMP WITH TIME ZONE,
        expires_at TIMESTAMP WITH TIME ZONE,
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
    "CREATE INDEX mask_plan_created ON mask_plan (created_at, id)",
    "CREATE INDEX mask_plan_rnic ON mask_plan (host, pci)",
    "CREATE INDEX mask_plan_open ON mask_plan (state) WHERE state IN ('reading', 'planning')",
    "CREATE INDEX mask_plan_to_check ON mask_plan (updated_at) WHERE flows_after IS NOT NULL",
    "CREATE INDEX ix_mask_plan_incident_id ON mask_plan (incident_id)",
    "CREATE INDEX ix_mask_plan_read_remedy_id ON mask_plan (read_remedy_id)",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE mask_plan")
