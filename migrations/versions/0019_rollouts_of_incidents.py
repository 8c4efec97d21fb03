"""A rollout may be for an incident."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

UPGRADE = (
    "ALTER TABLE rollout ADD COLUMN incident_id UUID",
    "ALTER TABLE rollout ADD CONSTRAINT rollout_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES incident (id) ON DELETE SET NULL",
    "CREATE INDEX ix_rollout_incident_id ON rollout (incident_id)",
)

DOWNGRADE = ("ALTER TABLE rollout DROP COLUMN incident_id",)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
