"""Some RNICs of an hour at a time are packed, on the Apache edition: of hours that received samples late, or while they were packed.

`wallwatch_pack_hour` stays: it packs an hour as a whole, and removes what is then empty.
"""

from __future__ import annotations

from alembic import op

revision = "0035"
down_revision = "0033"
branch_labels = None
depends_on = None

# As `wallwatch_pack_hour` (0033), for the next RNICs that have rows, so that one transaction is short. Their rows leave the chunk by
# DELETE, in the statement that reads them: no other reader ever sees them twice or not at all. DELETE writes each page again, which
# TRUNCATE does not: so an hour that nobody writes to is packed as a whole.
# It runs with the rights of its owner, so it does no more than it says: whoever calls it can lose no sample. Two callers at once could,
# because one may replace arrays that the other has written since it looked for them: so it takes the lock of packing (jobs/packing.py)
# first. The session that holds it may take it again.
PACK = """
CREATE FUNCTION wallwatch_pack_rnics(hypertable TEXT, begins TIMESTAMPTZ, above INTEGER, most INTEGER) RETURNS INTEGER[]
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
    rnics INTEGER[];
    read NUMERIC;
    gone NUMERIC;
BEGIN
    PERFORM pg_advisory_xact_lock(7241026);
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
    -- From one RNIC to the next in the index: the rows between are not read, nor those that are gone already.
    EXECUTE format(
        'WITH RECURSIVE found (rnic_id) AS ('
        '(SELECT rnic_id FROM ONLY %1$s WHERE rnic_id > $1 ORDER BY rnic_id LIMIT 1) '
        'UNION ALL SELECT (SELECT c.rnic_id FROM ONLY %1$s AS c WHERE c.rnic_id > found.rnic_id ORDER BY c.rnic_id LIMIT 1) '
        'FROM found WHERE found.rnic_id IS NOT NULL'
        ') SELECT array_agg(rnic_id) FROM (SELECT rnic_id FROM found LIMIT $2) AS first_ones WHERE rnic_id IS NOT NULL', chunk)
    INTO rnics USING above, most;
    IF rnics IS NULL THEN
        RETURN '{}';
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
    within := format('FROM ONLY %s WHERE %2$I >= $1 AND %2$I < $1 + INTERVAL ''1 hour'' AND rnic_id = ANY ($2)', chunk, moment);
    FOR each IN SELECT generate_series(begins, ends - INTERVAL '1 hour', INTERVAL '1 hour') LOOP
        EXECUTE format('SELECT EXISTS (SELECT %s), EXISTS (SELECT FROM public.%I WHERE hour = $1 AND rnic_id = ANY ($2))', within, packed)
        INTO filled, late USING each, rnics;
        CONTINUE WHEN NOT filled;
        source := format('SELECT rnic_id, %s, false AS was_packed %s', names, within);
        IF late THEN -- late rows join those that are packed; of two with the same keys and time the late one counts
            source := format(
                'SELECT DISTINCT ON (rnic_id, %6$s%5$I) * FROM ('
                '%1$s UNION ALL SELECT p.rnic_id, sample.*, true FROM public.%2$I AS p CROSS JOIN LATERAL unnest(%3$s) AS sample (%4$s) '
                'WHERE p.hour = $1 AND p.rnic_id = ANY ($2)) AS both_ ORDER BY rnic_id, %6$s%5$I, was_packed',
                source, packed, arrays, names, moment, keys);
        END IF;
        -- Rows that come meanwhile are neither read nor deleted. Of one that changed meanwhile, the new value would be deleted unread.
        EXECUTE format(
            'WITH packing AS (INSERT INTO public.%I (rnic_id, hour, %s) SELECT rnic_id, $1, %s FROM (%s) AS samples GROUP BY rnic_id '
            'ON CONFLICT (rnic_id, hour) DO UPDATE SET %s), gone AS (DELETE %s RETURNING xmin) '
            'SELECT (SELECT %s %s), (SELECT %s FROM gone)',
            packed, names, aggregates, source, updates, within, written, within, written) INTO read, gone USING each, rnics;
        IF gone <> read THEN
            RAISE EXCEPTION 'rows changed while those of % were packed', begins USING ERRCODE = 'serialization_failure';
        END IF;
        IF minutes THEN
            INSERT INTO public.minutes_packed (bucket, hour, place)
            SELECT each + n * INTERVAL '1 minute', each, n + 1 FROM generate_series(0, 59) AS n ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;
    RETURN rnics;
END $$
"""


def upgrade() -> None:
    op.execute(PACK)
    op.execute("REVOKE ALL ON FUNCTION wallwatch_pack_rnics(TEXT, TIMESTAMPTZ, INTEGER, INTEGER) FROM PUBLIC")


def downgrade() -> None:
    op.execute("DROP FUNCTION wallwatch_pack_rnics(TEXT, TIMESTAMPTZ, INTEGER, INTEGER)")
