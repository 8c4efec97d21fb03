"""What the Kubernetes API server says of nodes that are hosts of the fleet, and of pods that have virtual functions."""

from __future__ import annotations

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

UPGRADE = (
    """CREATE TABLE kubernetes_node (
        host TEXT PRIMARY KEY,
        zone TEXT,
        instance_type TEXT,
        labels JSONB NOT NULL,
        healthy TEXT,
        reason TEXT,
        tainted BOOLEAN NOT NULL,
        unschedulable BOOLEAN NOT NULL,
        read_at TIMESTAMPTZ NOT NULL
    )""",
    """CREATE TABLE kubernetes_pod (
        pod TEXT PRIMARY KEY,
        owner TEXT,
        labels JSONB NOT NULL,
        found BOOLEAN NOT NULL,
        read_at TIMESTAMPTZ NOT NULL
    )""",
    "CREATE INDEX kubernetes_pod_read ON kubernetes_pod (read_at)",
)
DOWNGRADE = ("DROP TABLE kubernetes_pod", "DROP TABLE kubernetes_node")


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Nothing is lost: it is read again."""
    for statement in DOWNGRADE:
        op.execute(statement)
