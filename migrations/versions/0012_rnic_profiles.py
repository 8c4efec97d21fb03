"""Versions of the RNICs' performance profiles; the jobs read those that are active."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE rnic_profile_version (
            id UUID NOT NULL,
            model TEXT NOT NULL,
            number INTEGER NOT NULL,
            driver TEXT DEFAULT '' NOT NULL,
            fw_ver TEXT DEFAULT '' NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('candidate', 'refused', 'active', 'retired')),
            source TEXT NOT NULL,
            performance JSONB,
            limits JSONB DEFAULT '{}' NOT NULL,
            calibration JSONB NOT NULL,
            note TEXT NOT NULL,
            created_by TEXT NOT NULL,
            created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
            promoted_by TEXT,
            promoted_at TIMESTAMP WITH TIME ZONE,
            retired_at TIMESTAMP WITH TIME ZONE,
            PRIMARY KEY (id),
            CHECK (state IN ('candidate', 'refused') OR performance IS NOT NULL)
        )
        """
    )
    op.execute("CREATE UNIQUE INDEX rnic_profile_version_number ON rnic_profile_version (model, number)")
    op.execute("CREATE UNIQUE INDEX rnic_profile_version_active ON rnic_profile_version (model, driver, fw_ver) WHERE state = 'active'")


def downgrade() -> None:
    op.execute("DROP TABLE rnic_profile_version")
