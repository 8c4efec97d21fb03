"""An hour of which samples are packed some RNICs at a time, for tests."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from psycopg import sql

from wallwatch.store import packed

from .conftest import until

Connection = psycopg.Connection[Any]

OLD = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=5)
RNICS = range(11, 19)

_PACK = """
import sys, threading, psycopg
from wallwatch.jobs import packing
from wallwatch.settings import Settings
packing.RNICS_AT_ONCE = 2
with psycopg.connect(sys.argv[1], autocommit=True, application_name="packing-to-be-killed") as connection:
    packing.Packing(Settings(database_url=sys.argv[2]), threading.Event(), lambda *_: None).pack(connection)
"""


def connect(url: str) -> Connection:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


@contextmanager
def without_samples(alembic_config: Config, url: str) -> Iterator[Connection]:
    """A database of the Apache edition without samples and minutes; tests are skipped on the other edition."""
    command.upgrade(alembic_config, "head")
    with connect(url) as connection:
        if connection.execute("SELECT to_regclass('mask_sample_packed')").fetchone() == (None,):
            pytest.skip("this edition of TimescaleDB has a columnstore; pipelines/tests/community tests it")
        tables = [name for table in (*packed.PACKED, *packed.MINUTES) for name in (table, packed.table_name(table))]
        for name in (*tables, packed.MINUTES_OF_HOURS):
            connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(name)))
        yield connection


def kill_while_packing(connection: Connection, table: str, postgres_url: str) -> None:
    """Start a process that packs, and kill it in its third transaction on a table: two RNICs each are packed in the first and second."""
    url = postgres_url.replace("+psycopg", "")
    ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'packing-to-be-killed' AND {}"
    with connect(postgres_url) as holder, holder.transaction():
        holder.execute(f"SELECT FROM {table} WHERE rnic_id = %s FOR UPDATE".encode(), [RNICS[5]])
        with subprocess.Popen([sys.executable, "-c", _PACK, url, postgres_url], env=os.environ) as process:
            waits = ours.format("wait_event_type = 'Lock'").encode()
            try:
                assert until(lambda: connection.execute(waits).fetchone() == (1,))
            finally:
                process.send_signal(signal.SIGKILL)
        killed = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'packing-to-be-killed'"
        connection.execute(killed.encode())  # it would see only after the wait that its client is gone
        assert until(lambda: connection.execute(ours.format("true").encode()).fetchone() == (0,))
