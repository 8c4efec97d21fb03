"""Writes encoded rows with COPY; a row that exists already adds nothing.

COPY straight into the hypertable is the fast and usual way, with nothing around it: a savepoint would take two more answers of the
database for each table, which is most of what a small batch costs. When a row exists already (after a crash, Kafka repeats uncommitted
messages), the transaction is lost and its batch is written again with `write_new`: the same bytes go into a temporary table first where
needed, and only new rows move on from there.
"""

from __future__ import annotations

from functools import cache

import psycopg
from psycopg import sql

from wallwatch.store.encode import COPY_HEADER, COPY_TRAILER, Encoded

_TEMPORARY = "CREATE TEMPORARY TABLE {} (LIKE {} INCLUDING DEFAULTS) ON COMMIT DROP"


class RowsExist(Exception):
    """A row of the batch exists already. The transaction can only be rolled back; `write_new` writes the batch."""


def write(connection: psycopg.Connection[object], batch: Encoded) -> int:
    """COPY rows inside the caller's transaction, none of which exists.

    Returns
    -------
    int
        Rows added.

    Raises
    ------
    RowsExist
    """
    try:
        return _copy(connection, batch.table, batch) if batch.row_count else 0
    except psycopg.errors.UniqueViolation as error:
        raise RowsExist(f"{batch.table} has rows of this batch already") from error


def write_new(connection: psycopg.Connection[object], batch: Encoded) -> int:
    """COPY rows inside the caller's transaction, any of which may exist.

    Returns
    -------
    int
        Rows added; rows that existed already are not counted.
    """
    try:
        with connection.transaction():
            return write(connection, batch)
    except RowsExist:
        staging = f"staging_{batch.table}"
        with connection.transaction():
            target, source = sql.Identifier(batch.table), sql.Identifier(staging)
            connection.execute(sql.SQL(_TEMPORARY).format(source, target))
            _copy(connection, staging, batch)
            columns = sql.SQL(", ").join(map(sql.Identifier, batch.columns))
            added = connection.execute(
                sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} ON CONFLICT DO NOTHING").format(target, columns, columns, source)
            ).rowcount
            connection.execute(sql.SQL("DROP TABLE {}").format(source))
        return added


@cache
def _statement(table: str, columns: tuple[str, ...]) -> bytes:
    """The COPY of a table. Kept, as composing one of 120 names takes as long as the database's answer."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    return sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(sql.Identifier(table), names).as_bytes(None)


def _copy(connection: psycopg.Connection[object], table: str, batch: Encoded) -> int:
    with connection.cursor() as cursor:
        with cursor.copy(_statement(table, batch.columns)) as copy:
            copy.write(b"".join((COPY_HEADER, *batch.rows, *batch.blocks, COPY_TRAILER)))  # in one: each write is sent at once
        return cursor.rowcount
