"""Versions of the RNICs' performance profiles; the jobs read those that are active."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE rnic_profile_version (
        id UUID NOT NULL,
        model TEXT NOT NULL,
        number INTEGER NOT NULL,
        driver TEXT DEFAULT '' NOT NULL,
        fw_ver TEXT DEFAULT '' NOT NULL,
        state TEXT NOT NULL,
        source TEXT NOT NULL,
        performance JSONB,
        limits JSONB DEFAULT '{}' NOT NULL,
        calibration JSONB NOT NULL,
        note TEXT NOT NULL,
        created_by TEXT NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        promoted_by TEXT,
        promoted_at TIMESTAMPTZ,
        retired_at TIMESTAMPTZ,
        CONSTRAINT rnic_profile_version_check CHECK (state IN ('candidate', 'refused') OR performance IS NOT NULL),
        CONSTRAINT rnic_profile_version_state_check CHECK (state IN ('candidate', 'refused', 'active', 'retired')),
        PRIMARY KEY (id)
    )
    """,
    """
    CREATE UNIQUE INDEX rnic_profile_version_active ON rnic_profile_version (model, driver, fw_ver)
    WHERE state = 'active'
    """,
    "CREATE UNIQUE INDEX rnic_profile_version_number ON rnic_profile_version (model, number)",
)

DOWNGRADE = ("DROP TABLE rnic_profile_version",)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
