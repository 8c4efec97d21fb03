"""Accounts, sessions, tokens, saved views, answers to requests that may come again.

Written out in SQL, so that a revision stays what it was when the models move on; a test compares the two.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE user_account (
        id UUID NOT NULL,
        username TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        role TEXT NOT NULL,
        disabled BOOLEAN NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        last_sign_in_at TIMESTAMPTZ,
        PRIMARY KEY (id),
        UNIQUE (username)
    )
    """,
    """
    CREATE TABLE user_session (
        secret_hash BYTEA NOT NULL,
        user_id UUID NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        expires_at TIMESTAMPTZ NOT NULL,
        address TEXT,
        PRIMARY KEY (secret_hash),
        FOREIGN KEY (user_id) REFERENCES user_account (id) ON DELETE CASCADE
    )
    """,
    "CREATE INDEX ix_user_session_expires_at ON user_session (expires_at)",
    "CREATE INDEX ix_user_session_user_id ON user_session (user_id)",
    """
    CREATE TABLE api_token (
        id UUID NOT NULL,
        name TEXT NOT NULL,
        role TEXT NOT NULL,
        prefix TEXT NOT NULL,
        token_hash BYTEA NOT NULL,
        created_by TEXT NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        expires_at TIMESTAMPTZ,
        last_used_at TIMESTAMPTZ,
        PRIMARY KEY (id),
        UNIQUE (token_hash)
    )
    """,
    """
    CREATE TABLE saved_view (
        id UUID NOT NULL,
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        query TEXT NOT NULL,
        shared BOOLEAN NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        updated_at TIMESTAMPTZ NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE UNIQUE INDEX saved_view_name ON saved_view (owner, name)",
    """
    CREATE TABLE idempotent_answer (
        caller TEXT NOT NULL,
        key TEXT NOT NULL,
        request_hash TEXT NOT NULL,
        body JSONB NOT NULL,
        created_at TIMESTAMPTZ DEFAULT now() NOT NULL,
        PRIMARY KEY (caller, key)
    )
    """,
    "CREATE INDEX ix_idempotent_answer_created_at ON idempotent_answer (created_at)",
)

DOWNGRADE = (
    "DROP TABLE idempotent_answer",
    "DROP TABLE saved_view",
    "DROP TABLE api_token",
    "DROP TABLE user_session",
    "DROP TABLE user_account",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
