"""What NVSentinel says of nodes that are hosts of the fleet, with its beginning and end."""

from __future__ import annotations

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

UPGRADE = (
    """CREATE TABLE nvsentinel_report (
        host TEXT NOT NULL,
        name TEXT NOT NULL,
        since TIMESTAMPTZ NOT NULL,
        text TEXT NOT NULL,
        devices TEXT[] NOT NULL,
        until TIMESTAMPTZ,
        read_at TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (host, name, since)
    )""",
    "CREATE INDEX nvsentinel_report_open ON nvsentinel_report (host) WHERE until IS NULL",
    "CREATE INDEX nvsentinel_report_until ON nvsentinel_report (until)",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """What holds is read again; what has ended is lost, but for the timelines of incidents."""
    op.execute("DROP TABLE nvsentinel_report")
