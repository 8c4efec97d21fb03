"""A function that drops old chunks for `ingest` on the Apache edition, so that its role need not own the tables."""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # It runs with the rights of its owner, so it does no more than it says: whoever calls it cannot drop what is younger than a day.
    op.execute("""
    CREATE FUNCTION wallwatch_drop_old_chunks(hypertable TEXT, before TIMESTAMPTZ) RETURNS SETOF TEXT
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    BEGIN
        IF before > now() - INTERVAL '23 hours' THEN
            RAISE EXCEPTION 'chunks younger than a day are kept: % was requested', before USING ERRCODE = 'insufficient_privilege';
        END IF;
        RETURN QUERY SELECT drop_chunks(format('public.%I', hypertable)::regclass, older_than => before);
    END $$
    """)
    op.execute("REVOKE ALL ON FUNCTION wallwatch_drop_old_chunks(TEXT, TIMESTAMPTZ) FROM PUBLIC")


def downgrade() -> None:
    op.execute("DROP FUNCTION wallwatch_drop_old_chunks(TEXT, TIMESTAMPTZ)")
