"""What a symptom reads has a column: in `other` a zero is left out, so it cannot be told from a value that was not measured.

A new installation has the columns already, because 0001 builds the tables from the metric registry. Rows that exist keep their values in
`other`.
"""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

COLUMNS = {
    "stale_reoffload_share": "double precision",
    "flows_overdue": "bigint",
    "flows_tc_software": "bigint",
    "deletion_ms": "double precision",
    "deletion_lag_p95_s": "double precision",
}


def upgrade() -> None:
    for name, kind in COLUMNS.items():
        op.execute(f"ALTER TABLE offload_sample ADD COLUMN IF NOT EXISTS {name} {kind}")


def downgrade() -> None:
    """Values of these columns are lost."""
    for name in COLUMNS:
        op.execute(f"ALTER TABLE offload_sample DROP COLUMN {name}")
