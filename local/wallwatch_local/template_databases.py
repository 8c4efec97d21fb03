"""Databases of tests: copies of two templates on one server, one empty and one with all tables.

A copy takes a fifth of the time of the migrations. Several test processes can use one server at the same time.
"""

import hashlib
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from wallwatch_local import postgres
from wallwatch_local.paths import REPOSITORY

EMPTY = postgres.DATABASE
MIGRATIONS = REPOSITORY / "migrations"
GRANTS = REPOSITORY / "pipelines" / "wallwatch" / "store" / "roles.py"
_MIGRATING = 7_331_001  # advisory lock: one process migrates, the others wait for its template
_numbers = itertools.count(1)

Connection = psycopg.Connection[tuple[object, ...]]


def prepare(server: str) -> None:
    """Turn the empty database into a template, and drop databases that killed test processes left on a kept server."""
    from wallwatch.store import roles

    with administration(server) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_MIGRATING])
        roles.create_roles(connection, dict.fromkeys(roles.DatabaseRole, make_url(server).password or ""))
        _close(connection, EMPTY)
        names = connection.execute("SELECT datname FROM pg_database WHERE datname ~ '^(test|migrating)_[0-9]+(_|$)'").fetchall()
        for (name,) in names:
            if not Path(f"/proc/{str(name).split('_')[1]}").exists():
                _drop(connection, str(name))


def migrated_template(server: str) -> str:
    """Name of a template at the newest revision; created once per state of the migrations."""
    template = f"migrated_{_digest_of_migrations()}"
    with administration(server) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_MIGRATING])
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [template]).fetchone() is None:
            # Renamed only on success, so that a half-migrated database is never used as a template.
            unfinished = f"migrating_{os.getpid()}"
            _create(connection, unfinished, EMPTY)
            _migrate(url(server, unfinished))
            _close(connection, unfinished)
            connection.execute(sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(unfinished), sql.Identifier(template)))
    return template


@contextmanager
def copy(server: str, template: str) -> Iterator[str]:
    """SQLAlchemy URL of a copy of a template, dropped when the block ends."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with administration(server) as connection:
        _create(connection, name, template)
    try:
        yield url(server, name)
    finally:
        with administration(server) as connection:
            _drop(connection, name)


def administration(server: str) -> Connection:
    """A connection that can create and drop databases."""
    return psycopg.connect(url(server, "postgres").replace("+psycopg", ""), autocommit=True)


def url(server: str, database: str) -> str:
    """SQLAlchemy URL of another database of the server."""
    return server.rsplit("/", 1)[0] + f"/{database}"


def as_role(database_url: str, role: str) -> str:
    """The same database for one of its roles, which all have the server's password in tests."""
    return str(make_url(database_url).set(username=role).render_as_string(hide_password=False))


def _migrate(database_url: str) -> None:
    from alembic import command
    from alembic.config import Config

    from wallwatch.store import roles

    config = Config(str(REPOSITORY / "alembic.ini"))
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["url"] = database_url
    config.attributes["configure_logging"] = False
    command.upgrade(config, "head")
    with psycopg.connect(database_url.replace("+psycopg", ""), autocommit=True) as connection:
        roles.apply_grants(connection)


def _digest_of_migrations() -> str:
    digest = hashlib.sha256()
    for file in [*sorted(MIGRATIONS.rglob("*.py")), GRANTS]:
        digest.update(f"{file.relative_to(REPOSITORY)}\n".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _create(connection: Connection, name: str, template: str) -> None:
    connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))


def _drop(connection: Connection, name: str) -> None:
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _close(connection: Connection, name: str) -> None:
    """Close a database: a template must have no session, and TimescaleDB's scheduler would open one."""
    connection.execute(sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false").format(sql.Identifier(name)))
    connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
