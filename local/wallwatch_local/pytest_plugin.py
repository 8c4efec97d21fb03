"""Fixtures with a real PostgreSQL + TimescaleDB and a real Kafka broker: started at first use, once per test run.

Tests that name neither fixture start neither server.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import psycopg
import pytest
from psycopg import sql

from wallwatch.jobs.topics import create_topics
from wallwatch_local import kafka, ports, postgres

# A busy machine is no failure: tests hold no time limits.
hypothesis.settings.register_profile("wallwatch", deadline=None)
hypothesis.settings.load_profile("wallwatch")

TEMPLATE = postgres.DATABASE
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """SQLAlchemy URL of a server for the whole run; its database ``wallwatch`` is the template of the others, so don't write to it."""
    with postgres.start(tmp_path_factory.mktemp("postgres")) as url:
        with psycopg.connect(_dsn(url, "postgres"), autocommit=True) as connection:
            # A template must have no session; TimescaleDB's scheduler would open one.
            connection.execute(f"ALTER DATABASE {TEMPLATE} WITH ALLOW_CONNECTIONS false")
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [TEMPLATE])
        yield url


@pytest.fixture(scope="module")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """SQLAlchemy URL of a database of this test module's own: empty but for the extension TimescaleDB."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(_dsn(postgres_server, "postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(TEMPLATE)))
        try:
            yield postgres_server.rsplit("/", 1)[0] + f"/{name}"
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def kafka_bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a broker for the whole run that has the declared topics, with 2 partitions each.

    Topics are shared by all tests: use host names or topics of your own.
    """
    with kafka.start(tmp_path_factory.mktemp("kafka")) as bootstrap:
        create_topics(bootstrap, partitions=2)
        yield bootstrap


@pytest.fixture
def free_port() -> int:
    """A TCP port of the loopback interface that nobody listens on."""
    return ports.free_ports(1)[0]


@pytest.fixture
def short_tmp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A temporary folder whose path is short enough for Unix sockets (108 bytes)."""
    return tmp_path_factory.mktemp("s")


def _dsn(url: str, database: str) -> str:
    return url.replace("+psycopg", "").rsplit("/", 1)[0] + f"/{database}"
