"""Fixtures with a real PostgreSQL + TimescaleDB and a real Kafka broker: started at first use, once per test run.

Tests that name neither fixture start neither server.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hypothesis
import psycopg
import pytest
from alembic import command
from alembic.config import Config
from psycopg import sql

from wallwatch.jobs.topics import create_topics
from wallwatch_local import kafka, ports, postgres
from wallwatch_local.paths import REPOSITORY

# A busy machine is no failure: tests hold no time limits.
hypothesis.settings.register_profile("wallwatch", deadline=None)
hypothesis.settings.load_profile("wallwatch")

TEMPLATE = postgres.DATABASE
MIGRATED = "migrated"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """SQLAlchemy URL of a server for the whole run; its database ``wallwatch`` is the template of the others, so don't write to it."""
    with postgres.start(tmp_path_factory.mktemp("postgres"), durable=False) as url:
        _close(url, TEMPLATE)
        yield url


@pytest.fixture(scope="session")
def migrated_server(postgres_server: str) -> str:
    """The same server, with a second template that has all tables: a copy takes a fifth of the time that the migrations take."""
    _create(postgres_server, MIGRATED, TEMPLATE)
    config = Config(str(REPOSITORY / "alembic.ini"))
    config.set_main_option("script_location", str(REPOSITORY / "migrations"))
    config.attributes["url"] = _url(postgres_server, MIGRATED)
    config.attributes["configure_logging"] = False
    command.upgrade(config, "head")
    _close(postgres_server, MIGRATED)
    return postgres_server


@pytest.fixture(scope="module")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """SQLAlchemy URL of a database of this test module's own: empty but for the extension TimescaleDB."""
    with _copy(postgres_server, TEMPLATE) as url:
        yield url


@pytest.fixture(scope="module")
def migrated_url(migrated_server: str) -> Iterator[str]:
    """SQLAlchemy URL of a database of this test module's own, at the newest revision."""
    with _copy(migrated_server, MIGRATED) as url:
        yield url


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


@contextmanager
def _copy(server: str, template: str) -> Iterator[str]:
    name = f"test_{next(_numbers)}"
    _create(server, name, template)
    try:
        yield _url(server, name)
    finally:
        with _administration(server) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _create(server: str, name: str, template: str) -> None:
    with _administration(server) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))


def _close(server: str, name: str) -> None:
    """A template must have no session; TimescaleDB's scheduler would open one."""
    with _administration(server) as connection:
        connection.execute(sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false").format(sql.Identifier(name)))
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])


def _administration(server: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(_url(server, "postgres").replace("+psycopg", ""), autocommit=True)


def _url(server: str, database: str) -> str:
    return server.rsplit("/", 1)[0] + f"/{database}"
