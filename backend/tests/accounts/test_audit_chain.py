"""The audit log is append-only, and `wallwatch audit verify` finds what was changed behind the database's back."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from typer.testing import CliRunner

from wallwatch_backend.cli.audit import app as audit_app

REPOSITORY = Path(__file__).resolve().parents[3]
runner = CliRunner()
INSERT = "INSERT INTO audit_event (actor, action, target, outcome, address, detail) VALUES (%s, 'a.b', %s, 'ok', %s, %s) RETURNING id"


@pytest.fixture(scope="module")
def dsn(migrated_url: str) -> str:
    return migrated_url.replace("+psycopg", "")


@pytest.fixture(scope="module", autouse=True)
def rows(dsn: str) -> list[int]:
    contents = [
        ("viewer", "host01 0000:3b:00.0", None, "{}"),
        ("agent:höst", "", "192.0.2.1", '{"b": 1.50, "a": ["ü", "\\u0001", {"z": null}], "n": 1e3}'),
        ("cli", "a:b-c", "", '{"text": "quote \\" and \\\\ line\\n"}'),
    ]
    with psycopg.connect(dsn) as connection:
        return [connection.execute(INSERT, content).fetchone()[0] for content in contents]  # type: ignore[index]


@pytest.fixture(autouse=True)
def environment(migrated_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", migrated_url)


def verify(*args: str) -> tuple[int, str]:
    done = runner.invoke(audit_app, ["verify", *args])
    assert isinstance(done.exception, SystemExit | None), repr(done.exception)
    return done.exit_code, done.output


@contextmanager
def tampering(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """Somebody with all rights: triggers and keys are off, and the change is undone afterwards."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for table in ("audit_event", "audit_link"):
            connection.execute(f"CREATE TABLE kept_{table} AS TABLE {table}")  # type: ignore[arg-type]
        connection.execute("SET session_replication_role = replica")
        try:
            yield connection
        finally:
            for table in ("audit_link", "audit_event"):
                connection.execute(f"DELETE FROM {table}")  # type: ignore[arg-type]
            for table in ("audit_event", "audit_link"):
                overriding = "OVERRIDING SYSTEM VALUE" if table == "audit_event" else ""
                connection.execute(f"INSERT INTO {table} {overriding} TABLE kept_{table}")  # type: ignore[arg-type]
                connection.execute(f"DROP TABLE kept_{table}")  # type: ignore[arg-type]


def test_a_log_that_nobody_touched_is_whole(rows: list[int]) -> None:
    code, output = verify()
    assert code == 0, output
    assert re.search(r"^\d+:[0-9a-f]{64}$", output, re.MULTILINE)


@pytest.mark.parametrize("table", ["audit_event", "audit_link"])
@pytest.mark.parametrize("statement", ["UPDATE {} SET {} = {}", "DELETE FROM {}", "TRUNCATE {} CASCADE"])
def test_the_database_refuses_changes_even_to_its_owner(dsn: str, table: str, statement: str) -> None:
    column = "actor" if table == "audit_event" else "hash"
    with psycopg.connect(dsn) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
        connection.execute(statement.format(table, column, column))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    ["actor = 'someone'", "at = at + interval '1 microsecond'", "address = ''", "detail = '{\"b\": 1}'", "target = target || ' '"],
)
def test_a_changed_row_is_named(dsn: str, rows: list[int], change: str) -> None:
    with tampering(dsn) as connection:
        connection.execute(f"UPDATE audit_event SET {change} WHERE id = %s", [rows[0]])  # type: ignore[arg-type]
        code, output = verify()
    assert code == 1
    assert f"audit row {rows[0]} " in output
    assert "not what was written" in output
    assert verify()[0] == 0


@pytest.mark.parametrize(
    ("statements", "says"),
    [
        (["DELETE FROM audit_event WHERE id = {0}"], "audit row {0} .* row was removed"),
        (["DELETE FROM audit_link WHERE event_id = {0}", "DELETE FROM audit_event WHERE id = {0}"], "audit row {1} .* 1 links before it"),
        (["UPDATE audit_link SET previous = hash WHERE event_id = {1}"], "audit row {1} .* does not follow"),
        (["UPDATE audit_link SET hash = previous WHERE event_id = {1}"], "audit row {1} .* not what was written"),
        (
            ["INSERT INTO audit_event (actor, action, target, outcome, detail) VALUES ('x', 'x', 'x', 'ok', '{{}}')"],
            "is in no chain .1 such",
        ),
        (
            [
                "UPDATE audit_event a SET actor = b.actor, at = b.at, target = b.target, address = b.address, detail = b.detail"
                " FROM audit_event b WHERE (a.id, b.id) IN (({0}, {1}), ({1}, {0}))"
            ],
            "audit row {0} .* not what was written",
        ),
        (
            [
                "INSERT INTO audit_event (actor, action, target, outcome, detail) VALUES ('x', 'x', 'x', 'ok', '{{}}')",
                "INSERT INTO audit_link (seq, event_id, previous, hash)"
                " SELECT max(seq) + 1, (SELECT max(id) FROM audit_event), decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex')"
                " FROM audit_link",
            ],
            "does not follow",
        ),
    ],
)
def test_each_way_to_tamper_is_found(dsn: str, rows: list[int], statements: list[str], says: str) -> None:
    with tampering(dsn) as connection:
        for statement in statements:
            connection.execute(statement.format(*rows))  # type: ignore[arg-type]
        code, output = verify()
    assert code == 1
    assert re.search(says.format(*rows), output), output


def test_an_end_that_was_cut_off_is_found_with_an_anchor(dsn: str, rows: list[int]) -> None:
    anchor = verify()[1].splitlines()[-1]
    with tampering(dsn) as connection:
        for table, column in (("audit_link", "event_id"), ("audit_event", "id")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = (SELECT max({column}) FROM {table})")  # type: ignore[arg-type]
        assert verify()[0] == 0, "without an anchor nobody can know"
        code, output = verify("--anchor", anchor)
    assert code == 1
    assert "cut off" in output
    assert verify("--anchor", anchor)[0] == 0
    assert "rewritten" in verify("--anchor", f"{anchor.split(':')[0]}:{'00' * 32}")[1]


@pytest.mark.parametrize("anchor", ["7", "7:xyz", "-1:" + "00" * 32, "1:00"])
def test_an_anchor_that_is_none_gets_a_clear_line(anchor: str) -> None:
    code, output = verify(f"--anchor={anchor}")
    assert code == 1
    assert "SEQ:HASH" in output


def test_many_writers_at_once_create_one_chain(dsn: str) -> None:
    def write(number: int) -> None:
        with psycopg.connect(dsn) as connection:
            for n in range(20):
                connection.execute(INSERT, [f"writer{number}", str(n), None, "{}"])
                connection.commit()
            connection.execute(INSERT, ["nobody", "rolled back", None, "{}"])
            connection.rollback()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    code, output = verify()
    assert code == 0, output


def test_an_open_transaction_with_an_audit_row_holds_nobody_up(dsn: str) -> None:
    with psycopg.connect(dsn) as slow, psycopg.connect(dsn, autocommit=True, options="-c lock_timeout=5s") as quick:
        slow.execute(INSERT, ["slow", "", None, "{}"])
        quick.execute(INSERT, ["quick", "", None, "{}"])
    assert verify()[0] == 0


def test_only_administrators_get_the_end_of_the_chain(anonymous: httpx.Client, operator: httpx.Client, admin: httpx.Client) -> None:
    assert anonymous.get("/api/v1/audit/head").status_code == 401
    assert operator.get("/api/v1/audit/head").status_code == 403
    head = admin.get("/api/v1/audit/head").json()
    assert verify("--anchor", f"{head['seq']}:{head['hash']}")[0] == 0


def test_the_role_of_the_backend_adds_to_the_log_and_can_do_nothing_else_to_it(backend_url: str) -> None:
    with psycopg.connect(backend_url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(INSERT, ["app", "", None, "{}"])
        connection.execute("UPDATE agent SET healthy = healthy")
        for forbidden in (
            "UPDATE audit_event SET actor = 'x'",
            "DELETE FROM audit_link",
            "TRUNCATE audit_event CASCADE",
            "ALTER TABLE audit_event DISABLE TRIGGER ALL",
            "SET session_replication_role = replica",
            "DROP TABLE audit_link",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(forbidden.encode())
    assert verify()[0] == 0
