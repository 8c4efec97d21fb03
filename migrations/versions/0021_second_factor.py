"""A second factor of local accounts; sessions that their owners can list and end."""

from __future__ import annotations

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    ALTER TABLE user_account
        ADD COLUMN totp_secret BYTEA,
        ADD COLUMN totp_since TIMESTAMPTZ,
        ADD COLUMN totp_step BIGINT,
        ADD CONSTRAINT user_account_totp_check CHECK (totp_since IS NULL OR (totp_secret IS NOT NULL AND totp_step IS NOT NULL))
    """,
    """
    CREATE TABLE recovery_code (
        user_id UUID NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
        code_hash BYTEA NOT NULL,
        PRIMARY KEY (user_id, code_hash)
    )
    """,
    """
    ALTER TABLE user_session
        ADD COLUMN id UUID NOT NULL DEFAULT gen_random_uuid(),
        ADD COLUMN last_used_at TIMESTAMPTZ,
        ADD CONSTRAINT user_session_id_key UNIQUE (id)
    """,
)

DOWNGRADE = (
    "ALTER TABLE user_session DROP COLUMN id, DROP COLUMN last_used_at",
    "DROP TABLE recovery_code",
    "ALTER TABLE user_account DROP CONSTRAINT user_account_totp_check",
    "ALTER TABLE user_account DROP COLUMN totp_secret, DROP COLUMN totp_since, DROP COLUMN totp_step",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Second factors are lost: passwords alone sign in again."""
    for statement in DOWNGRADE:
        op.execute(statement)
