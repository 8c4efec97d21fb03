"""Writes encoded rows with COPY; a row that exists already adds nothing.

COPY straight into the hypertable is the fast and usual way. When a row exists already (after a crash, Kafka repeats uncommitted messages),
the same bytes go into a temporary table first, and only new rows move on from there.
"""

from __future__ import annotations

import psycopg
from psycopg import sql

from wallwatch.store.encode import COPY_HEADER, COPY_TRAILER, Encoded


def write(connection: psycopg.Connection[object], batch: Encoded) -> int:
    """COPY a batch inside the caller's transaction.

    Returns
    -------
    int
        Rows added; rows that existed already are not counted.
    """
    if not batch.row_count:
        return 0
    target = sql.Identifier(batch.table)
    columns = sql.SQL(", ").join(map(sql.Identifier, batch.columns))
    try:
        with connection.transaction():
            return _copy(connection, target, columns, batch)
    except psycopg.errors.UniqueViolation:
        staging = sql.Identifier(f"staging_{batch.table}")
        with connection.transaction():
            connection.execute(sql.SQL("CREATE TEMPORARY TABLE {} (LIKE {} INCLUDING DEFAULTS) ON COMMIT DROP").format(staging, target))
            _copy(connection, staging, columns, batch)
            added = connection.execute(
                sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} ON CONFLICT DO NOTHING").format(target, columns, columns, staging)
            ).rowcount
            connection.execute(sql.SQL("DROP TABLE {}").format(staging))
        return added


def _copy(connection: psycopg.Connection[object], target: sql.Identifier, columns: sql.Composed, batch: Encoded) -> int:
    with connection.cursor() as cursor:
        with cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(target, columns)) as copy:
            copy.write(b"".join((COPY_HEADER, *batch.rows)))
            for block in batch.blocks:
                copy.write(block)
            copy.write(COPY_TRAILER)
        return cursor.rowcount
