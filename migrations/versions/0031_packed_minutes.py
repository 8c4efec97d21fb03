"""Hours of one-minute aggregates that are over are packed on the Apache edition, as samples are since 0027.

The views `rnic_1m` and `offload_1m` keep their names and columns and have the packed minutes, too. The Community edition keeps its
continuous aggregates: nothing changes there but two functions.
"""

from __future__ import annotations

from alembic import context, op

from wallwatch.store.editions import Edition, edition_of

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

HYPERTABLES = ("rnic_1m_rollup", "offload_1m_rollup")

# Called again by each later revision that adds a column to one of the hypertables.
# A condition on a view's `bucket` becomes one on minutes_packed, which names the hours to read. Arrays are decompressed once per hour in
# `arrays` (OFFSET 0 keeps it apart), and only those of the columns that a query names. The condition with random(), which is never called,
# keeps PostgreSQL from remembering rows of `arrays` by the contents of all arrays, which costs more than it saves.
FOLLOW = r"""
CREATE OR REPLACE FUNCTION wallwatch_follow_columns(hypertable TEXT) RETURNS VOID
LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    packed CONSTANT TEXT := hypertable || '_packed';
    packs CONSTANT BOOLEAN := to_regclass(format('public.%I', packed)) IS NOT NULL;
    minutes CONSTANT BOOLEAN := hypertable LIKE '%\_rollup';
    place CONSTANT TEXT := 'CASE WHEN p.bucket IS NULL THEN m.place ELSE array_position(p.bucket, m.bucket) END';
    each RECORD;
    names TEXT;
    arrays TEXT;
    unpacked TEXT;
    name TEXT;
    view TEXT;
BEGIN
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
           string_agg(format(CASE WHEN minutes THEN 'p.%1$I || ''{}'' AS %1$I' ELSE 'p.%1$I' END, attname), ', ' ORDER BY attnum)
               FILTER (WHERE NOT minutes OR attname <> 'bucket'),
           string_agg(CASE WHEN NOT minutes THEN format('sample.%I', attname) WHEN attname = 'bucket' THEN 'm.bucket'
               ELSE format('arrays.%I[%s]', attname, place) END, ', ' ORDER BY attnum)
    INTO names, arrays, unpacked FROM pg_attribute
    WHERE attrelid = format('public.%I', hypertable)::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'rnic_id';
    IF packs THEN
        FOR each IN
            SELECT attname, format_type(atttypid, atttypmod) AS kind FROM pg_attribute
            WHERE attrelid = format('public.%I', hypertable)::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'rnic_id'
        LOOP
            EXECUTE format('ALTER TABLE public.%I ADD COLUMN IF NOT EXISTS %I %s[]', packed, each.attname, each.kind);
        END LOOP;
    END IF;
    IF minutes THEN
        name := left(hypertable, -length('_rollup'));
        view := format(
            'SELECT rnic_id, %s FROM public.%I UNION ALL SELECT p.rnic_id, %s FROM public.%I AS p '
            'CROSS JOIN LATERAL (SELECT p.rnic_id, %s OFFSET 0) AS arrays JOIN public.minutes_packed AS m ON m.hour = p.hour '
            'WHERE (%s) IS NOT NULL AND (arrays.rnic_id IS NOT NULL OR random() < 0)',
            names, hypertable, unpacked, packed, arrays, place);
    ELSE
        name := hypertable || '_all';
        view := format('SELECT rnic_id, %s, time_bucket(INTERVAL ''1 hour'', time) AS hour FROM public.%I', names, hypertable);
        IF packs THEN
            view := view || format(
                ' UNION ALL SELECT p.rnic_id, %s, p.hour FROM public.%I AS p CROSS JOIN LATERAL unnest(%s) AS sample (%s)',
                unpacked, packed, arrays, names);
        END IF;
    END IF;
    EXECUTE format('DROP VIEW IF EXISTS public.%I', name);
    EXECUTE format('CREATE VIEW public.%I AS %s', name, view);
END $$
"""

# It runs with the rights of its owner, so it does no more than it says: whoever calls it can lose no sample. A chunk of minutes from before
# this revision is a day: all of its hours are packed at once. An hour that has all of its minutes needs no list of them.
PACK = """
CREATE OR REPLACE FUNCTION wallwatch_pack_hour(hypertable TEXT, begins TIMESTAMPTZ) RETURNS BOOLEAN
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET lock_timeout = '5s' SET enable_sort = off AS $$
DECLARE
    packed CONSTANT TEXT := hypertable || '_packed';
    -- Of each row the number of the transaction that wrote it: the sum grows when a row comes or changes.
    written CONSTANT TEXT := 'COALESCE(sum(xmin::text::bigint), 0)';
    chunk REGCLASS;
    ends TIMESTAMPTZ;
    moment TEXT;
    minutes BOOLEAN;
    within TEXT;
    names TEXT;
    arrays TEXT;
    aggregates TEXT;
    updates TEXT;
    source TEXT;
    each TIMESTAMPTZ;
    filled BOOLEAN;
    late BOOLEAN;
    again BOOLEAN := false;
    now_read NUMERIC;
    read NUMERIC := 0;
    stored NUMERIC;
BEGIN
    SELECT format('%I.%I', chunk_schema, chunk_name)::regclass, c.range_end, c.primary_dimension INTO chunk, ends, moment
    FROM timescaledb_information.chunks AS c
    WHERE c.hypertable_schema = 'public' AND c.hypertable_name = hypertable AND c.range_start = begins
      AND extract(epoch FROM begins)::bigint % 3600 = 0 AND extract(epoch FROM c.range_end)::bigint % 3600 = 0;
    IF chunk IS NULL OR to_regclass(format('public.%I', packed)) IS NULL THEN
        RAISE EXCEPTION 'no hour of % that can be packed begins at %', hypertable, begins USING ERRCODE = 'undefined_object';
    END IF;
    IF ends > now() - INTERVAL '90 minutes' THEN
        RAISE EXCEPTION 'hours that have just ended are not packed: % was requested', begins USING ERRCODE = 'insufficient_privilege';
    END IF;
    minutes := moment = 'bucket';
    -- lz4 costs a third, and is better where values stay the same; pglz is better with the texts that name peers and with minutes
    -- (docs/decisions/0027 and 0042).
    PERFORM set_config('default_toast_compression', 'pglz', true);
    IF hypertable = 'rnic_sample'
        AND EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        PERFORM set_config('default_toast_compression', 'lz4', true);
    END IF;
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
           string_agg(CASE WHEN minutes AND attname = moment
               THEN 'COALESCE(p.bucket, ARRAY(SELECT generate_series(p.hour, p.hour + INTERVAL ''59 minutes'', INTERVAL ''1 minute'')))'
               ELSE format('p.%I', attname) END, ', ' ORDER BY attnum),
           string_agg(format(CASE WHEN minutes AND attname = moment THEN 'CASE WHEN count(*) < 60 THEN array_agg(%1$I ORDER BY %2$I) END'
               ELSE 'CASE WHEN count(%1$I) > 0 THEN array_agg(%1$I ORDER BY %2$I) END' END, attname, moment), ', ' ORDER BY attnum),
           string_agg(format('%1$I = excluded.%1$I', attname), ', ' ORDER BY attnum)
    INTO names, arrays, aggregates, updates FROM pg_attribute
    WHERE attrelid = format('public.%I', hypertable)::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'rnic_id';
    within := format('FROM ONLY %s WHERE %2$I >= $1 AND %2$I < $1 + INTERVAL ''1 hour''', chunk, moment);
    FOR each IN SELECT generate_series(begins, ends - INTERVAL '1 hour', INTERVAL '1 hour') LOOP
        EXECUTE format('SELECT EXISTS (SELECT %s), EXISTS (SELECT FROM public.%I WHERE hour = $1)', within, packed)
        INTO filled, late USING each;
        CONTINUE WHEN NOT filled;
        again := again OR late;
        source := format('SELECT rnic_id, %s, false AS was_packed %s', names, within);
        IF late THEN -- late rows join those that are packed; of two of the same time the late one counts
            source := format(
                'SELECT DISTINCT ON (rnic_id, %6$I) * FROM ('
                '%1$s UNION ALL SELECT p.rnic_id, sample.*, true FROM public.%2$I AS p CROSS JOIN LATERAL unnest(%3$s) AS sample (%4$s) '
                'WHERE p.hour = $1 AND p.rnic_id IN (SELECT rnic_id %5$s)) AS both_ ORDER BY rnic_id, %6$I, was_packed',
                source, packed, arrays, names, within, moment);
        END IF;
        EXECUTE format(
            'WITH packing AS (INSERT INTO public.%I (rnic_id, hour, %s) SELECT rnic_id, $1, %s FROM (%s) AS samples GROUP BY rnic_id '
            'ON CONFLICT (rnic_id, hour) DO UPDATE SET %s) SELECT %s %s',
            packed, names, aggregates, source, updates, written, within) INTO now_read USING each;
        read := read + now_read;
        IF minutes THEN
            INSERT INTO public.minutes_packed (bucket, hour, place)
            SELECT each + n * INTERVAL '1 minute', each, n + 1 FROM generate_series(0, 59) AS n ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;
    -- What came or changed meanwhile is not in the arrays: then nothing has happened, and the next attempt has it.
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', chunk);
    EXECUTE format('SELECT %s FROM ONLY %s', written, chunk) INTO stored;
    IF stored <> read THEN
        RAISE EXCEPTION 'rows came or changed while those of % were packed', begins USING ERRCODE = 'serialization_failure';
    END IF;
    IF minutes THEN -- thousands of empty chunks would slow each query down
        PERFORM drop_chunks(format('public.%I', hypertable)::regclass, older_than => ends, newer_than => begins);
    ELSE
        EXECUTE format('TRUNCATE ONLY %s', chunk);
    END IF;
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
    if _edition() is not Edition.APACHE:
        return
    op.execute("CREATE TABLE minutes_packed (bucket TIMESTAMPTZ PRIMARY KEY, hour TIMESTAMPTZ NOT NULL, place INTEGER NOT NULL)")
    op.execute("SELECT create_hypertable('minutes_packed', by_range('bucket', INTERVAL '30 days'), create_default_indexes => false)")
    for name in HYPERTABLES:
        # Most of a row fits into a page, so only the largest arrays are stored elsewhere.
        op.execute(
            f"CREATE TABLE {name}_packed (rnic_id INTEGER NOT NULL, hour TIMESTAMPTZ NOT NULL, PRIMARY KEY (rnic_id, hour)) "
            "WITH (toast_tuple_target = 8160)"
        )
        op.execute(f"SELECT create_hypertable('{name}_packed', by_range('hour', INTERVAL '7 days'), create_default_indexes => false)")
        op.execute(f"CREATE INDEX {name}_packed_hour ON {name}_packed (hour)")
        op.execute(f"SELECT set_chunk_time_interval('{name}', INTERVAL '1 hour')")
        op.execute(f"SELECT wallwatch_follow_columns('{name}')")


def downgrade() -> None:
    """Write the packed minutes back as rows. The two functions stay as they are: they do what those of 0027 did, too."""
    if _edition() is not Edition.APACHE:
        return
    for name in HYPERTABLES:
        view = name.removesuffix("_rollup")
        op.execute(f"SELECT set_chunk_time_interval('{name}', INTERVAL '1 day')")
        op.execute(f"INSERT INTO {name} SELECT * FROM {view} ON CONFLICT DO NOTHING")  # noqa: S608 - names of the list above
        op.execute(f"DROP VIEW {view}")
        op.execute(f"CREATE VIEW {view} AS SELECT * FROM {name}")  # noqa: S608 - as above
        op.execute(f"DROP TABLE {name}_packed")
    op.execute("DROP TABLE minutes_packed")
