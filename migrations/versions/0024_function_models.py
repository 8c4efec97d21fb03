"""Models of network functions: versions per function, card model and firmware; cores and SLA of each function."""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE nf_model_version (
        id UUID NOT NULL,
        function TEXT NOT NULL,
        nic_model TEXT NOT NULL,
        firmware TEXT NOT NULL DEFAULT '',
        number INTEGER NOT NULL,
        state TEXT NOT NULL,
        model TEXT NOT NULL,
        card JSONB NOT NULL,
        own_load JSONB,
        note TEXT NOT NULL,
        created_by TEXT NOT NULL,
        created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
        promoted_by TEXT,
        promoted_at TIMESTAMPTZ,
        retired_at TIMESTAMPTZ,
        CONSTRAINT nf_model_version_state_check CHECK (state IN ('candidate', 'refused', 'active', 'retired')),
        PRIMARY KEY (id)
    )
    """,
    "CREATE UNIQUE INDEX nf_model_version_number ON nf_model_version (function, nic_model, firmware, number)",
    "CREATE UNIQUE INDEX nf_model_version_active ON nf_model_version (function, nic_model, firmware) WHERE state = 'active'",
    """
    CREATE TABLE network_function (
        name TEXT NOT NULL,
        cores INTEGER NOT NULL,
        sla_drop DOUBLE PRECISION,
        version INTEGER NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        updated_by TEXT NOT NULL,
        CONSTRAINT network_function_cores_check CHECK (cores >= 1),
        CONSTRAINT network_function_sla_check CHECK (sla_drop > 0 AND sla_drop < 1),
        PRIMARY KEY (name)
    )
    """,
)

DOWNGRADE = ("DROP TABLE network_function", "DROP TABLE nf_model_version")


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Models of network functions and their SLAs are lost."""
    for statement in DOWNGRADE:
        op.execute(statement)
