"""Samples of one RNIC as packed hours, however new they are: readers are tested on them without touching other tests' samples."""

from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import Table

from wallwatch.store.packed import table_name


def pack_rnic(connection: psycopg.Connection[Any], table: Table, rnic_id: int) -> None:
    """Move all rows of an RNIC into packed hours. On the edition with a columnstore there are none, and nothing is done."""
    packed = table_name(table.name)
    if connection.execute("SELECT to_regclass(%s)", [packed]).fetchone() == (None,):
        return
    columns = [sql.Identifier(column.name) for column in table.columns if column.name != "rnic_id"]
    pack = sql.SQL(
        "INSERT INTO {packed} (rnic_id, hour, {columns}) SELECT rnic_id, time_bucket(INTERVAL '1 hour', time), {arrays} FROM {rows}"
        " WHERE rnic_id = %s GROUP BY 1, 2"
    )
    arrays = sql.SQL(", ").join(sql.SQL("array_agg({} ORDER BY time)").format(column) for column in columns)
    names = {"packed": sql.Identifier(packed), "rows": sql.Identifier(table.name)}
    with connection.transaction():
        connection.execute(pack.format(**names, columns=sql.SQL(", ").join(columns), arrays=arrays), [rnic_id])
        connection.execute(sql.SQL("DELETE FROM {rows} WHERE rnic_id = %s").format(**names), [rnic_id])
