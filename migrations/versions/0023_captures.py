"""Packet captures: what was uploaded, and what its analysis found."""

from __future__ import annotations

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE capture (
        id UUID NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        size_bytes BIGINT NOT NULL,
        sha256 TEXT NOT NULL,
        options JSONB NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('queued', 'analysing', 'done', 'failed')),
        progress DOUBLE PRECISION NOT NULL,
        problem TEXT,
        uploaded_by TEXT NOT NULL,
        created_at TIMESTAMPTZ NOT NULL,
        ended_at TIMESTAMPTZ,
        heartbeat_at TIMESTAMPTZ NOT NULL,
        summary JSONB,
        result JSONB
    )
    """,
    "CREATE INDEX capture_created ON capture (created_at, id)",
    "CREATE INDEX capture_open ON capture (heartbeat_at) WHERE state IN ('queued', 'analysing')",
    """
    CREATE TABLE capture_series (
        capture_id UUID NOT NULL REFERENCES capture (id) ON DELETE CASCADE,
        place INTEGER NOT NULL,
        label JSONB NOT NULL,
        body JSONB NOT NULL,
        PRIMARY KEY (capture_id, place)
    )
    """,
)

DOWNGRADE = ("DROP TABLE capture_series", "DROP TABLE capture")


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Analyses are lost; the captures themselves were never kept."""
    for statement in DOWNGRADE:
        op.execute(statement)
