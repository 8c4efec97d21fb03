"""Tokens belong to an account; orders remember the persons behind them; sign-in attempts are counted in one place."""

from __future__ import annotations

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_ALL_SCOPES = "ARRAY['read', 'incidents', 'remedies', 'lab', 'admin']"

UPGRADE = (
    f"""
    ALTER TABLE api_token
        ADD COLUMN owner_id UUID REFERENCES user_account (id) ON DELETE SET NULL,
        ADD COLUMN creator_ids UUID[] NOT NULL DEFAULT '{{}}',
        ADD COLUMN scopes TEXT[] NOT NULL DEFAULT {_ALL_SCOPES},
        ADD COLUMN hosts TEXT[] NOT NULL DEFAULT '{{}}',
        ADD COLUMN racks TEXT[] NOT NULL DEFAULT '{{}}',
        ADD COLUMN last_used_address TEXT
    """,
    "CREATE INDEX ix_api_token_owner_id ON api_token (owner_id)",
    # A token that a token created belongs to the person at the end of that chain, if there is exactly one.
    """
    WITH RECURSIVE chain (id, maker, depth) AS (
        SELECT id, created_by, 0 FROM api_token
        UNION
        SELECT chain.id, made.maker, chain.depth + 1
        FROM chain
        JOIN (
            SELECT 'token:' || name AS actor, created_by AS maker FROM api_token
            UNION
            SELECT 'token:' || target, actor FROM audit_event WHERE action = 'token.create' AND outcome = 'ok'
        ) AS made ON made.actor = chain.maker
        WHERE chain.depth < 20
    ), person AS (
        SELECT chain.id, array_agg(DISTINCT user_account.id) AS people
        FROM chain JOIN user_account ON user_account.username = chain.maker
        GROUP BY chain.id
    )
    UPDATE api_token
    SET creator_ids = person.people, owner_id = CASE WHEN cardinality(person.people) = 1 THEN person.people[1] END
    FROM person WHERE person.id = api_token.id
    """,
    """
    INSERT INTO audit_event (actor, action, target, outcome, detail)
    SELECT 'system', 'token.disable', name, 'ok',
           jsonb_build_object('token_id', id, 'created_by', created_by, 'reason', 'the upgrade found no single account that made it')
    FROM api_token WHERE owner_id IS NULL ORDER BY created_at
    """,
    "ALTER TABLE api_token ALTER COLUMN creator_ids DROP DEFAULT, ALTER COLUMN scopes DROP DEFAULT, "
    "ALTER COLUMN hosts DROP DEFAULT, ALTER COLUMN racks DROP DEFAULT",
    "ALTER TABLE remedy ADD COLUMN requester_ids UUID[] NOT NULL DEFAULT '{}'",
    "ALTER TABLE mask_plan ADD COLUMN requester_ids UUID[] NOT NULL DEFAULT '{}'",
    "ALTER TABLE rollout ADD COLUMN requester_ids UUID[] NOT NULL DEFAULT '{}'",
    "UPDATE remedy SET requester_ids = ARRAY[user_account.id] FROM user_account WHERE username = requested_by AND state = 'pending'",
    "UPDATE rollout SET requester_ids = ARRAY[user_account.id] FROM user_account WHERE username = requested_by AND state = 'pending'",
    """
    CREATE TABLE sign_in_attempt (
        id UUID NOT NULL,
        at TIMESTAMPTZ NOT NULL,
        account TEXT NOT NULL,
        network TEXT NOT NULL,
        failed BOOLEAN NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX sign_in_attempt_network ON sign_in_attempt (network, at)",
    "CREATE INDEX sign_in_attempt_account ON sign_in_attempt (account, at)",
)

DOWNGRADE = (
    "DROP TABLE sign_in_attempt",
    "ALTER TABLE mask_plan DROP COLUMN requester_ids",
    "ALTER TABLE rollout DROP COLUMN requester_ids",
    "ALTER TABLE remedy DROP COLUMN requester_ids",
    # Before this revision nothing would keep a token without an owner, or one with limits, from full use of its role.
    "DELETE FROM api_token WHERE owner_id IS NULL OR hosts <> '{}' OR racks <> '{}' OR cardinality(scopes) < 5",
    "ALTER TABLE api_token DROP COLUMN owner_id, DROP COLUMN creator_ids, DROP COLUMN scopes, DROP COLUMN hosts, DROP COLUMN racks, "
    "DROP COLUMN last_used_address",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    """Tokens with limits or without an owner are deleted: an earlier server would not respect either."""
    for statement in DOWNGRADE:
        op.execute(statement)
