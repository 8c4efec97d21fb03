"""Findings of whole hosts, what they say of the RNIC and in words, and symptoms that are over."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TEXTS = ("explanation", "model", "driver", "fw_ver")


def upgrade() -> None:
    # Revision 0001 writes the tables from today's definitions, so a new database has all of this already.
    op.execute("ALTER TABLE finding ADD COLUMN IF NOT EXISTS host_id INTEGER")
    for name in TEXTS:
        op.execute(f"ALTER TABLE finding ADD COLUMN IF NOT EXISTS {name} TEXT NOT NULL DEFAULT ''")
    op.execute("INSERT INTO host (host, rack) SELECT DISTINCT ON (host) host, rack FROM rnic ON CONFLICT (host) DO NOTHING")
    op.execute(
        "UPDATE finding SET host_id = h.host_id FROM rnic r JOIN host h ON h.host = r.host "
        "WHERE finding.host_id IS NULL AND r.rnic_id = finding.rnic_id"
    )
    op.execute("ALTER TABLE finding ALTER COLUMN host_id SET NOT NULL")
    op.execute("ALTER TABLE finding ALTER COLUMN rnic_id DROP NOT NULL")
    op.execute("CREATE INDEX IF NOT EXISTS finding_host_time ON finding (host_id, time)")
    # What was active has no end yet; readers take an absent `until` for null.


def downgrade() -> None:
    op.execute("DELETE FROM finding WHERE rnic_id IS NULL")
    op.execute("ALTER TABLE finding ALTER COLUMN rnic_id SET NOT NULL")
    op.execute("DROP INDEX IF EXISTS finding_host_time")
    op.execute("ALTER TABLE finding DROP COLUMN IF EXISTS host_id")
    for name in TEXTS:
        op.execute(f"ALTER TABLE finding DROP COLUMN IF EXISTS {name}")
    op.execute(
        "UPDATE rnic_state SET symptoms = (SELECT COALESCE(jsonb_object_agg(key, value - 'until'), '{}') "
        "FROM jsonb_each(symptoms) WHERE value ->> 'until' IS NULL)"
    )
