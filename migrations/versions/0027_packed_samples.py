"""Hours of samples that are over are packed on the Apache edition: one row per RNIC and hour with an array per column.

`<hypertable>_all` has all samples on both editions. Functions make these views and pack, so that the role of `ingest` need not own tables.
"""

from __future__ import annotations

from alembic import context, op

from wallwatch.store.editions import Edition, edition_of

revision = "0027"
down_revision = "0025"
branch_labels = None
depends_on = None

HYPERTABLES = ("rnic_sample", "offload_sample")

# Called again by each later revision that adds a column to one of the hypertables.
FOLLOW = """
CREATE FUNCTION wallwatch_follow_columns(hypertable TEXT) RETURNS VOID
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    packed CONSTANT TEXT := hypertable || '_packed';
    packs CONSTANT BOOLEAN := to_regclass(format('public.%I', packed)) IS NOT NULL;
    each RECORD;
    names TEXT;
    arrays TEXT;
    unpacked TEXT;
    view TEXT;
BEGIN
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
           string_agg(format('p.%I', attname), ', ' ORDER BY attnum),
           string_agg(format('sample.%I', attname), ', ' ORDER BY attnum)
    INTO names, arrays, unpacked FROM pg_attribute
    WHERE attrelid = format('public.%I', hypertable)::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'rnic_id';
    view := format('SELECT rnic_id, %s, time_bucket(INTERVAL ''1 hour'', time) AS hour FROM public.%I', names, hypertable);
    IF packs THEN
        FOR each IN
            SELECT attname, format_type(atttypid, atttypmod) AS kind FROM pg_attribute
            WHERE attrelid = format('public.%I', hypertable)::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'rnic_id'
        LOOP
            EXECUTE format('ALTER TABLE public.%I ADD COLUMN IF NOT EXISTS %I %s[]', packed, each.attname, each.kind);
        END LOOP;
        view := view || format(
            ' UNION ALL SELECT p.rnic_id, %s, p.hour FROM public.%I AS p CROSS JOIN LATERAL unnest(%s) AS sample (%s)',
            unpacked, packed, arrays, names);
    END IF;
    EXECUTE format('DROP VIEW IF EXISTS public.%I', hypertable || '_all');
    EXECUTE format('CREATE VIEW public.%I AS %s', hypertable || '_all', view);
END $$
"""

# It runs with the rights of its owner, so it does no more than it says: whoever calls it can lose no sample.
PACK = """
CREATE FUNCTION wallwatch_pack_hour(hypertable TEXT, begins TIMESTAMPTZ) RETURNS BOOLEAN
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '5s' SET enable_sort = off AS $$
DECLARE
    packed CONSTANT TEXT := hypertable || '_packed';
    chunk REGCLASS;
    names TEXT;
    arrays TEXT;
    aggregates TEXT;
    updates TEXT;
    source TEXT;
    again BOOLEAN;
    read BIGINT;
    stored BIGINT;
BEGIN
    SELECT format('%I.%I', chunk_schema, chunk_name)::regclass INTO chunk FROM timescaledb_information.chunks AS c
    WHERE c.hypertable_schema = 'public' AND c.hypertable_name = hypertable AND c.range_start = begins
      AND c.range_end = begins + INTERVAL '1 hour';
    IF chunk IS NULL OR to_regclass(format('public.%I', packed)) IS NULL THEN
        RAISE EXCEPTION 'no hour of % that can be packed begins at %', hypertable, begins USING ERRCODE = 'undefined_object';
    END IF;
    IF begins > now() - INTERVAL '150 minutes' THEN
        RAISE EXCEPTION 'hours that have just ended are not packed: % was requested', begins USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- lz4 costs a third, and is better where values stay the same; pglz is better with the texts that name peers (docs/decisions/0027).
    IF hypertable = 'offload_sample' THEN
        PERFORM set_config('default_toast_compression', 'pglz', true);
    ELSIF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        PERFORM set_config('default_toast_compression', 'lz4', true);
    END IF;
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
           string_agg(format('p.%I', attname), ', ' ORDER BY attnum),
           string_agg(format('CASE WHEN count(%1$I) > 0 THEN array_agg(%1$I ORDER BY time) END', attname), ', ' ORDER BY attnum),
           string_agg(format('%1$I = excluded.%1$I', attname), ', ' ORDER BY attnum)
    INTO names, arrays, aggregates, updates FROM pg_attribute
    WHERE attrelid = format('public.%I', hypertable)::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'rnic_id';
    source := format('SELECT rnic_id, %s FROM ONLY %s', names, chunk);
    EXECUTE format('SELECT EXISTS (SELECT FROM public.%I WHERE hour = $1)', packed) INTO again USING begins;
    IF again THEN -- late rows join those that are packed; a sample that came again is one
        source := format(
            'SELECT DISTINCT ON (rnic_id, time) * FROM ('
            '%s UNION ALL SELECT p.rnic_id, sample.* FROM public.%I AS p CROSS JOIN LATERAL unnest(%s) AS sample (%s) '
            'WHERE p.hour = $1 AND p.rnic_id IN (SELECT rnic_id FROM ONLY %s)) AS both_ ORDER BY rnic_id, time',
            source, packed, arrays, names, chunk);
    END IF;
    EXECUTE format(
        'WITH packing AS (INSERT INTO public.%I (rnic_id, hour, %s) SELECT rnic_id, $1, %s FROM (%s) AS samples GROUP BY rnic_id '
        'ON CONFLICT (rnic_id, hour) DO UPDATE SET %s) SELECT count(*) FROM ONLY %s',
        packed, names, aggregates, source, updates, chunk) INTO read USING begins;
    -- What came meanwhile is not in the arrays: then nothing has happened, and the next attempt has it.
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', chunk);
    EXECUTE format('SELECT count(*) FROM ONLY %s', chunk) INTO stored;
    IF stored <> read THEN
        RAISE EXCEPTION '% samples came while % were packed', stored - read, read USING ERRCODE = 'serialization_failure';
    END IF;
    EXECUTE format('TRUNCATE ONLY %s', chunk);
    RETURN again;
END $$
"""


def _edition() -> Edition:
    if context.is_offline_mode():
        return Edition(context.get_x_argument(as_dictionary=True)["timescaledb"])
    return edition_of(op.get_bind())


def upgrade() -> None:
    op.execute(FOLLOW)
    op.execute(PACK)
    op.execute("REVOKE ALL ON FUNCTION wallwatch_follow_columns(TEXT) FROM PUBLIC")
    op.execute("REVOKE ALL ON FUNCTION wallwatch_pack_hour(TEXT, TIMESTAMPTZ) FROM PUBLIC")
    edition = _edition()
    for name in HYPERTABLES:
        if edition is Edition.APACHE:  # the Community edition's columnstore does the same
            op.execute(f"CREATE TABLE {name}_packed (rnic_id INTEGER NOT NULL, hour TIMESTAMPTZ NOT NULL, PRIMARY KEY (rnic_id, hour))")
            op.execute(f"SELECT create_hypertable('{name}_packed', by_range('hour', INTERVAL '1 day'), create_default_indexes => false)")
        op.execute(f"SELECT wallwatch_follow_columns('{name}')")


def downgrade() -> None:
    edition = _edition()
    for name in HYPERTABLES:
        if edition is Edition.APACHE:
            op.execute(f"""
            DO $$
            DECLARE names TEXT;
            BEGIN
                SELECT string_agg(quote_ident(attname), ', ') INTO names FROM pg_attribute
                WHERE attrelid = '{name}'::regclass AND attnum > 0 AND NOT attisdropped;
                EXECUTE format('INSERT INTO {name} (%1$s) SELECT %1$s FROM {name}_all WHERE hour IN (SELECT hour FROM {name}_packed) '
                    'ON CONFLICT DO NOTHING', names);
            END $$
            """)  # noqa: S608 - names of the list above
        op.execute(f"DROP VIEW {name}_all")
        if edition is Edition.APACHE:
            op.execute(f"DROP TABLE {name}_packed")
    op.execute("DROP FUNCTION wallwatch_pack_hour(TEXT, TIMESTAMPTZ)")
    op.execute("DROP FUNCTION wallwatch_follow_columns(TEXT)")
