"""Webhooks for pagers: the key by which the receiver knows the sender, encrypted, and what shows which one it is."""

from __future__ import annotations

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

UPGRADE = ("ALTER TABLE webhook ADD COLUMN credential BYTEA, ADD COLUMN credential_fingerprint TEXT",)
DOWNGRADE = ("ALTER TABLE webhook DROP COLUMN credential, DROP COLUMN credential_fingerprint",)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Webhooks for pagers stay, without their keys: pagers refuse what they send."""
    for statement in DOWNGRADE:
        op.execute(statement)
