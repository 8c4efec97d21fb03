"""Hours of masks and virtual functions that are over are packed on the Apache edition, as samples of RNICs are since 0027.

`mask_sample_all` and `vf_sample_all` have all samples on both editions. The Community edition's columnstore packs them already: nothing
changes there but the two views and a function.
"""

from __future__ import annotations

from alembic import context, op

from wallwatch.store.editions import Edition, edition_of

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

HYPERTABLES = ("mask_sample", "vf_sample")

# As in 0031, and for tables with further keys. It runs with the rights of its owner, so it does no more than it says: whoever calls it can
# lose no sample. A chunk may be longer than an hour (of minutes, a day before 0031; of functions, six hours until now): all of its hours
# are packed at once. An hour that has all of its minutes needs no list of them.
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
    keys TEXT;
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
    -- What an RNIC has several of at one time (masks, functions) is in the order of its keys, so equal texts and numbers are neighbours.
    SELECT COALESCE(string_agg(quote_ident(a.attname), ', ' ORDER BY k.place) || ', ', '') INTO keys
    FROM pg_index AS i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
    JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
    WHERE i.indrelid = format('public.%I', hypertable)::regclass AND i.indisunique AND a.attname NOT IN ('rnic_id', moment);
    -- lz4 costs a third, and is better where values stay the same; pglz is better with the texts that name peers and with minutes
    -- (docs/decisions/0027, 0042 and 0050).
    PERFORM set_config('default_toast_compression', 'pglz', true);
    IF hypertable IN ('rnic_sample', 'mask_sample', 'vf_sample')
        AND EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
        PERFORM set_config('default_toast_compression', 'lz4', true);
    END IF;
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
           string_agg(CASE WHEN minutes AND attname = moment
               THEN 'COALESCE(p.bucket, ARRAY(SELECT generate_series(p.hour, p.hour + INTERVAL ''59 minutes'', INTERVAL ''1 minute'')))'
               ELSE format('p.%I', attname) END, ', ' ORDER BY attnum),
           string_agg(format(CASE WHEN minutes AND attname = moment
               THEN 'CASE WHEN count(*) < 60 THEN array_agg(%1$I ORDER BY %3$s%2$I) END'
               ELSE 'CASE WHEN count(%1$I) > 0 THEN array_agg(%1$I ORDER BY %3$s%2$I) END' END, attname, moment, keys),
               ', ' ORDER BY attnum),
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
        IF late THEN -- late rows join those that are packed; of two with the same keys and time the late one counts
            source := format(
                'SELECT DISTINCT ON (rnic_id, %7$s%6$I) * FROM ('
                '%1$s UNION ALL SELECT p.rnic_id, sample.*, true FROM public.%2$I AS p CROSS JOIN LATERAL unnest(%3$s) AS sample (%4$s) '
                'WHERE p.hour = $1 AND p.rnic_id IN (SELECT rnic_id %5$s)) AS both_ ORDER BY rnic_id, %7$s%6$I, was_packed',
                source, packed, arrays, names, within, moment, keys);
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
    op.execute(PACK)
    edition = _edition()
    for name in HYPERTABLES:
        if edition is Edition.APACHE:
            op.execute(f"CREATE TABLE {name}_packed (rnic_id INTEGER NOT NULL, hour TIMESTAMPTZ NOT NULL, PRIMARY KEY (rnic_id, hour))")
            op.execute(f"SELECT create_hypertable('{name}_packed', by_range('hour', INTERVAL '1 day'), create_default_indexes => false)")
        op.execute(f"SELECT wallwatch_follow_columns('{name}')")
    if edition is Edition.APACHE:
        op.execute("SELECT set_chunk_time_interval('vf_sample', INTERVAL '1 hour')")


def downgrade() -> None:
    """Write the packed hours back as rows. The function stays as it is: it does what that of 0031 did, too."""
    edition = _edition()
    if edition is Edition.APACHE:
        op.execute("SELECT set_chunk_time_interval('vf_sample', INTERVAL '6 hours')")
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
