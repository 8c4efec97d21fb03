"""Accounts of people who sign in at an OpenID Connect provider: known by issuer and subject, without a password here."""

from __future__ import annotations

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

UPGRADE = (
    "ALTER TABLE user_account ALTER COLUMN password_hash DROP NOT NULL",
    "ALTER TABLE user_account ADD COLUMN oidc_issuer TEXT, ADD COLUMN oidc_subject TEXT",
    "ALTER TABLE user_account ADD CONSTRAINT user_account_identity UNIQUE (oidc_issuer, oidc_subject)",
    "ALTER TABLE user_account ADD CONSTRAINT user_account_identity_check CHECK ((oidc_issuer IS NULL) = (oidc_subject IS NULL))",
)

DOWNGRADE = (
    # Without a provider these accounts cannot sign in: `!` is the hash of no password.
    "UPDATE user_account SET password_hash = '!' WHERE password_hash IS NULL",
    "ALTER TABLE user_account DROP CONSTRAINT user_account_identity_check, DROP CONSTRAINT user_account_identity",
    "ALTER TABLE user_account DROP COLUMN oidc_issuer, DROP COLUMN oidc_subject",
    "ALTER TABLE user_account ALTER COLUMN password_hash SET NOT NULL",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
