"""The database's roles: what each process may do, tried with the attacks that a stolen password would allow."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors, sql
from typer.testing import CliRunner

from wallwatch.cli.main import app
from wallwatch.store.password_files import PasswordProblem
from wallwatch.store.role_passwords import find
from wallwatch.store.roles import DatabaseRole, Relation, apply_grants, exist, privileges, relations
from wallwatch_local.template_databases import EMPTY, administration, as_role, copy

LIMITED = [role for role in DatabaseRole if role is not DatabaseRole.owner]
Connection = psycopg.Connection[Any]


def connect(url: str) -> Connection:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)


@pytest.fixture
def superuser(migrated_url: str) -> Iterator[Connection]:
    with closing(connect(migrated_url)) as connection:
        yield connection


@pytest.fixture(params=list(DatabaseRole))
def role(request: pytest.FixtureRequest) -> DatabaseRole:
    found: DatabaseRole = request.param
    return found


@pytest.fixture
def as_it(migrated_url: str, role: DatabaseRole) -> Iterator[Connection]:
    """A connection of the role."""
    with closing(connect(as_role(migrated_url, role))) as connection:
        yield connection


@pytest.mark.parametrize(
    "attack",
    [
        "COPY (SELECT 1) TO PROGRAM 'id'",
        "CREATE TEMPORARY TABLE x (line text); COPY x FROM PROGRAM 'id'",
        "SELECT pg_read_file('/etc/passwd')",
        "SET session_replication_role = replica",
        "CREATE ROLE more SUPERUSER",
        "ALTER ROLE wallwatch_backend SUPERUSER",
        "SET ROLE wallwatch",
        "SELECT rolpassword FROM pg_authid",
        "ALTER SYSTEM SET log_statement = 'all'",
    ],
)
def test_no_role_leaves_the_database_it_serves(as_it: Connection, attack: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        as_it.execute(attack.encode())


@pytest.mark.parametrize(
    "attack",
    [
        "UPDATE audit_event SET actor = 'nobody'",
        "DELETE FROM audit_event",
        "TRUNCATE audit_event, audit_link",
        "UPDATE audit_link SET hash = previous",
        "ALTER TABLE audit_event DISABLE TRIGGER ALL",
        "DROP TRIGGER audit_event_append_only ON audit_event",
        "CREATE OR REPLACE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN OLD; END$$",
        "ALTER TABLE audit_event RENAME TO other",
        "CREATE TABLE public.more (a int)",
    ],
)
@pytest.mark.parametrize("role", LIMITED, indirect=True)
def test_no_role_but_the_owner_changes_the_audit_log_or_the_schema(as_it: Connection, attack: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        as_it.execute(attack.encode())


@pytest.mark.parametrize("role", [DatabaseRole.ingest, DatabaseRole.jobs, DatabaseRole.reader], indirect=True)
@pytest.mark.parametrize(
    "table", ["user_account", "user_session", "recovery_code", "api_token", "enrolment_token", "command_key", "agent_authority", "webhook"]
)
def test_accounts_tokens_and_keys_are_the_backends_alone(as_it: Connection, table: str) -> None:
    for statement in ("SELECT * FROM {}", "DELETE FROM {}"):
        with pytest.raises(errors.InsufficientPrivilege):
            as_it.execute(sql.SQL(statement).format(sql.Identifier(table)))


def test_dashboards_read_telemetry_findings_and_incidents_and_write_nothing(migrated_url: str) -> None:
    with closing(connect(as_role(migrated_url, DatabaseRole.reader))) as connection:
        for table in ("rnic_sample", "rnic_1m", "finding", "incident", "vf_broken", "slo_class"):
            connection.execute(sql.SQL("SELECT * FROM {} LIMIT 1").format(sql.Identifier(table)))
        for relation in (one for one in list(relations(connection)) if not one.is_view):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(relation.name)))


def test_the_backend_changes_no_telemetry_and_ingest_deletes_none(migrated_url: str) -> None:
    with closing(connect(as_role(migrated_url, DatabaseRole.backend))) as backend:
        for statement in ("DELETE FROM rnic_sample", "UPDATE finding SET severity = 'low'", "DELETE FROM rnic_1m_rollup"):
            with pytest.raises(errors.InsufficientPrivilege):
                backend.execute(statement.encode())
    with closing(connect(as_role(migrated_url, DatabaseRole.ingest))) as ingest, pytest.raises(errors.InsufficientPrivilege):
        ingest.execute("DELETE FROM rnic_sample")


def test_ingest_drops_old_chunks_but_none_of_today_and_nobody_else_drops_any(migrated_url: str) -> None:
    drop = "SELECT wallwatch_drop_old_chunks(%s, now() - %s::interval)"
    with closing(connect(as_role(migrated_url, DatabaseRole.ingest))) as ingest:
        assert ingest.execute(drop, ["rnic_sample", "7 days"]).fetchall() == []
        with pytest.raises(errors.InsufficientPrivilege, match="younger than a day are kept"):
            ingest.execute(drop, ["rnic_sample", "1 hour"])
    for role in (DatabaseRole.backend, DatabaseRole.jobs, DatabaseRole.reader):
        with closing(connect(as_role(migrated_url, role))) as other, pytest.raises(errors.InsufficientPrivilege):
            other.execute(drop, ["rnic_sample", "7 days"])


def test_privileges_are_exactly_those_declared_after_drift(superuser: Connection) -> None:
    superuser.execute("GRANT ALL ON user_account TO wallwatch_reader")
    superuser.execute("GRANT SELECT ON api_token TO PUBLIC")
    apply_grants(superuser)
    has = "SELECT has_table_privilege(%s, %s, %s)"
    for relation in relations(superuser):
        for role in LIMITED:
            expected = set(privileges(role, relation))
            for right in ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE"):
                found = superuser.execute(has, [role, f"public.{relation.name}", right]).fetchone()
                assert found == (right in expected,), (role, relation.name, right)


def test_a_new_table_is_the_backends_alone_until_somebody_says_otherwise() -> None:
    new = Relation("something_new", False)
    assert {role: privileges(role, new) for role in LIMITED if privileges(role, new)} == {
        DatabaseRole.backend: ("SELECT", "INSERT", "UPDATE", "DELETE")
    }


def test_from_an_empty_database_to_all_tables_without_a_superuser(
    postgres_server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    password = re.search(r":([^:@/]+)@", postgres_server)
    assert password is not None
    for role in DatabaseRole:
        monkeypatch.setenv(f"WALLWATCH_DATABASE_PASSWORD_{role.name.upper()}", password.group(1))  # roles belong to the server: all tests
    run = CliRunner()
    with copy(postgres_server, EMPTY) as url:
        done = run.invoke(app, ["db", "roles", "--admin-url", url])
        assert done.exit_code == 0, done.output
        assert "wallwatch_owner: exists, password set (owns the tables" in done.output
        monkeypatch.setenv("WALLWATCH_DATABASE_URL", as_role(url, DatabaseRole.owner))
        for _ in range(2):
            done = run.invoke(app, ["db", "upgrade"])
            assert done.exit_code == 0, done.output
            assert "each role has its rights" in done.output
        with closing(connect(url)) as connection:
            owners = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
            assert connection.execute(owners).fetchall() == [(DatabaseRole.owner,)]


def test_tables_of_an_earlier_installation_get_the_new_owner(
    postgres_server: str, migrated_template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with copy(postgres_server, migrated_template) as url:
        done = CliRunner().invoke(app, ["db", "roles", "--admin-url", url])
        assert done.exit_code == 0, done.output
        assert "have a new owner: wallwatch_owner" in done.output
        monkeypatch.setenv("WALLWATCH_DATABASE_URL", as_role(url, DatabaseRole.owner))
        done = CliRunner().invoke(app, ["db", "upgrade"])
        assert done.exit_code == 0, done.output
        with closing(connect(as_role(url, DatabaseRole.owner))) as owner:
            owner.execute("ALTER TABLE rnic ADD COLUMN of_a_later_release int")
        with closing(connect(as_role(url, DatabaseRole.ingest))) as ingest:
            ingest.execute("SELECT wallwatch_drop_old_chunks('rnic_sample', now() - interval '7 days')")


def test_without_a_superusers_address_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WALLWATCH_DATABASE_ADMIN_URL", raising=False)
    done = CliRunner().invoke(app, ["db", "roles"])
    assert (done.exit_code, "the roles stay as they are" in done.output) == (0, True)


def test_the_server_never_sees_a_password_in_clear(postgres_server: str) -> None:
    with closing(administration(postgres_server)) as connection:
        assert exist(connection)
        stored = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = ANY(%s)", [[*DatabaseRole]]).fetchall()
    assert all(str(verifier).startswith("SCRAM-SHA-256$") for (verifier,) in stored)


def test_passwords_come_from_files_which_are_created_and_private(tmp_path: Path) -> None:
    folder = tmp_path / "passwords"
    first = find(folder, {})
    assert set(first) == set(DatabaseRole)
    assert len(set(first.values())) == len(DatabaseRole)
    assert find(folder, {}) == first
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
    assert find(folder, {"WALLWATCH_DATABASE_PASSWORD_JOBS": "of the environment"})[DatabaseRole.jobs] == "of the environment"


@pytest.mark.parametrize(("password", "why"), [("short", "too short"), ("two lines\nof a password", "several lines")])
def test_passwords_that_cannot_be_used_are_refused(password: str, why: str) -> None:
    with pytest.raises(PasswordProblem, match=why):
        find(None, {"WALLWATCH_DATABASE_PASSWORD_INGEST": password})
