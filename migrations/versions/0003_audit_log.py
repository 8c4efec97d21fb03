"""The audit log: append-only, and tamper-evident by a chain of hashes next to it.

A row's link is made when its transaction commits, by a deferred trigger under an advisory lock: links stand in the order of commits, and
an audit row in the middle of a transaction makes nobody wait. The backend computes the same hashes to verify the chain
(`wallwatch_backend.accounts.audit.chain`).
"""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

UPGRADE = (
    """
    CREATE TABLE audit_event (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        at TIMESTAMPTZ DEFAULT now() NOT NULL,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        target TEXT NOT NULL,
        outcome TEXT NOT NULL,
        address TEXT,
        detail JSONB NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX audit_event_action_at ON audit_event (action, at)",
    "CREATE INDEX audit_event_actor_at ON audit_event (actor, at)",
    """
    CREATE TABLE audit_link (
        seq BIGINT NOT NULL,
        event_id BIGINT NOT NULL,
        previous BYTEA NOT NULL,
        hash BYTEA NOT NULL,
        PRIMARY KEY (seq),
        UNIQUE (event_id),
        FOREIGN KEY (event_id) REFERENCES audit_event (id)
    )
    """,
    # A text with its length before it, so that no two rows of different content read the same; null differs from empty.
    """
    CREATE FUNCTION audit_field(value TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE AS $$
        SELECT coalesce(octet_length(convert_to(value, 'UTF8'))::text || ':' || value, '-')
    $$
    """,
    """
    CREATE FUNCTION audit_hash(previous BYTEA, seq BIGINT, e audit_event) RETURNS BYTEA LANGUAGE sql STABLE AS $$
        SELECT sha256(previous || convert_to(
            audit_field(seq::text) || audit_field(e.id::text) || audit_field(((extract(epoch FROM e.at) * 1000000)::bigint)::text)
            || audit_field(e.actor) || audit_field(e.action) || audit_field(e.target) || audit_field(e.outcome)
            || audit_field(e.address) || audit_field(e.detail::text), 'UTF8'))
    $$
    """,
    """
    CREATE FUNCTION audit_chain_event() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
        last audit_link%ROWTYPE;
    BEGIN
        PERFORM pg_advisory_xact_lock(7241014);
        SELECT * INTO last FROM audit_link ORDER BY seq DESC LIMIT 1;
        INSERT INTO audit_link (seq, event_id, previous, hash) VALUES (
            coalesce(last.seq, 0) + 1, NEW.id, coalesce(last.hash, decode(repeat('00', 32), 'hex')),
            audit_hash(coalesce(last.hash, decode(repeat('00', 32), 'hex')), coalesce(last.seq, 0) + 1, NEW));
        RETURN NULL;
    END $$
    """,
    """
    CREATE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the audit log is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
    END $$
    """,
    """
    CREATE CONSTRAINT TRIGGER audit_event_chain AFTER INSERT ON audit_event
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit_chain_event()
    """,
    *(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse_change()"
        for table in ("audit_event", "audit_link")
    ),
)

DOWNGRADE = (
    "DROP TABLE audit_link",
    "DROP FUNCTION audit_chain_event() CASCADE",
    "DROP FUNCTION audit_hash(BYTEA, BIGINT, audit_event)",
    "DROP FUNCTION audit_field(TEXT)",
    "DROP TABLE audit_event",
    "DROP FUNCTION audit_refuse_change()",
)


def upgrade() -> None:
    for statement in UPGRADE:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWNGRADE:
        op.execute(statement)
