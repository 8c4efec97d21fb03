"""The database's roles and what each may do: the least that its processes need.

No role is a superuser or may run programs on the database's machine. Only the owner may change tables, so nobody but the owner can drop
the triggers that keep the audit log as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import psycopg
from psycopg import sql

from wallwatch.store.tables import metadata


class DatabaseRole(StrEnum):
    """Each role is the part of the product that signs in as it."""

    owner = "wallwatch_owner"
    backend = "wallwatch_backend"
    ingest = "wallwatch_ingest"
    jobs = "wallwatch_jobs"
    reader = "wallwatch_reader"


MEANINGS = {
    DatabaseRole.owner: "owns the tables: `wallwatch db upgrade`",
    DatabaseRole.backend: "the backend and its commands",
    DatabaseRole.ingest: "the job ingest",
    DatabaseRole.jobs: "the jobs classify, isolation, validate, forecast and lab",
    DatabaseRole.reader: "dashboards and reports: reads telemetry, findings and incidents, no accounts or secrets",
}

READ = ("SELECT",)
APPEND = ("SELECT", "INSERT")
WRITE = ("SELECT", "INSERT", "UPDATE")
ALL = ("SELECT", "INSERT", "UPDATE", "DELETE")

MODELS = frozenset({"forecast_model", "forecast_model_change"})
LAB = frozenset({"lab_device", "lab_campaign", "lab_test"})
AUDIT = frozenset({"audit_event", "audit_link"})
VERSION = frozenset({"alembic_version"})
CONFIGURATION = frozenset(
    {
        "policy",
        "policy_version",
        "policy_tables",
        "rnic_profile_version",
        "lab_rule",
        "rnic_cordon",
        "remedy_stop",
        "slo_class",
        "slo_rule",
        "slo_rule_version",
        "nf_model_version",
        "network_function",
    }
)
"""What an operator sets and jobs read."""

SHOWN = frozenset(
    {
        "incident",
        "incident_finding",
        "incident_timeline",
        "silence",
        "remedy",
        "rollout",
        "mask_plan",
        "automation_rule",
        "automation_run",
        "kubernetes_node",
        "kubernetes_pod",
        "nvsentinel_report",
    }
)
"""What dashboards may show besides telemetry and configuration."""

TELEMETRY = frozenset(metadata.tables) - MODELS - LAB
"""Written by ingest only. The roll-ups of the Apache edition and their views belong to it, too."""

COUNTED_BY_JOBS = frozenset({"dead_letter_count"})
"""Each message is refused by the job that reads it, which counts it."""

INGEST_FUNCTIONS = (
    "wallwatch_drop_old_chunks(text, timestamptz)",
    "wallwatch_pack_hour(text, timestamptz)",
    "wallwatch_pack_rnics(text, timestamptz, integer, integer)",
)
"""They run with the owner's rights."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view of the schema `public`."""

    name: str
    is_view: bool

    @property
    def is_telemetry(self) -> bool:
        return self.name in TELEMETRY or self.is_rollup or self.is_packed or (self.is_view and self.name != "policy_in_force")

    @property
    def is_rollup(self) -> bool:
        return self.name.endswith("_rollup")

    @property
    def is_packed(self) -> bool:
        return self.name.endswith("_packed")


def privileges(role: DatabaseRole, relation: Relation) -> tuple[str, ...]:
    """What a role may do with a table or view; nothing if it is not named here.

    >>> privileges(DatabaseRole.backend, Relation("audit_event", False))
    ('SELECT', 'INSERT')
    >>> privileges(DatabaseRole.reader, Relation("user_account", False))
    ()
    """
    name = relation.name
    if role is DatabaseRole.owner:
        return ()  # owns everything
    if name in VERSION:
        return READ
    if relation.is_view:
        return READ
    if role is DatabaseRole.backend:
        if name in AUDIT:
            return APPEND
        return READ if relation.is_telemetry else ALL
    if relation.is_telemetry:
        if role is DatabaseRole.jobs and name in COUNTED_BY_JOBS:
            return WRITE
        if role is not DatabaseRole.ingest or relation.is_packed:  # a function of the owner packs
            return READ
        return ALL if relation.is_rollup else WRITE
    if name in CONFIGURATION:
        return READ
    if name in MODELS | LAB:
        return ALL if role is DatabaseRole.jobs else READ
    return READ if role is DatabaseRole.reader and name in SHOWN else ()


def create_roles(connection: psycopg.Connection[Any], passwords: Mapping[DatabaseRole, str]) -> list[DatabaseRole]:
    """Create the roles that are missing and set the given passwords; needs a superuser, or a role with CREATEROLE.

    Returns
    -------
    list
        The roles that were created.
    """
    created = []
    for role in DatabaseRole:
        name = sql.Identifier(role)
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
            connection.execute(sql.SQL("CREATE ROLE {}").format(name))
            created.append(role)
        attributes = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
        if connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() != (True,):
            attributes = "LOGIN NOCREATEDB NOCREATEROLE"  # the others are a superuser's to say, and are off by default
        connection.execute(sql.SQL("ALTER ROLE {} {}").format(name, sql.SQL(attributes)))
        if role in passwords:
            connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(name, sql.Literal(_verifier(connection, role, passwords[role]))))
    return created


def own_database(connection: psycopg.Connection[Any]) -> None:
    """Give the current database to the owner's role, with TimescaleDB in it; needs a superuser the first time."""
    connection.execute("SET client_min_messages = error")  # the extension greets with a banner
    connection.execute("CREATE EXTENSION IF NOT EXISTS timescaledb")
    database = sql.Identifier(connection.info.dbname)
    owner = sql.Identifier(DatabaseRole.owner)
    connection.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(database, owner))
    connection.execute(sql.SQL("REVOKE CONNECT ON DATABASE {} FROM PUBLIC").format(database))
    connection.execute(sql.SQL("GRANT USAGE, CREATE ON SCHEMA public TO {}").format(owner))


def take_over(connection: psycopg.Connection[Any]) -> int:
    """Give tables, views and functions of an earlier installation to the owner's role; needs a superuser. Returns how many."""
    statements = connection.execute(_OTHERS_OBJECTS, {"owner": DatabaseRole.owner}).fetchall()
    for (statement,) in statements:
        connection.execute(statement)
    return len(statements)


_OTHERS_OBJECTS = """
WITH ours AS (
    SELECT c.oid, c.relkind, c.relname, pg_get_userbyid(c.relowner) AS owner FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p', 'S')
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e', 'a', 'i') AND d.classid = 'pg_class'::regclass)
)
SELECT format('ALTER %%s public.%%I OWNER TO %%I',
              CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
              relname, %(owner)s::text) FROM ours WHERE owner <> %(owner)s::text
UNION ALL
SELECT format('ALTER FUNCTION %%s OWNER TO %%I', p.oid::regprocedure, %(owner)s::text) FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND pg_get_userbyid(p.proowner) <> %(owner)s::text
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
"""


def exist(connection: psycopg.Connection[Any]) -> bool:
    """Return whether all roles exist on this server."""
    found = connection.execute("SELECT count(*) FROM pg_roles WHERE rolname = ANY(%s)", [[*DatabaseRole]]).fetchone()
    return found == (len(DatabaseRole),)


def apply_grants(connection: psycopg.Connection[Any]) -> int:
    """Make each role's privileges exactly those of `privileges`; as the owner, after each migration. Returns how many were granted."""
    granted = 0
    others = [role for role in DatabaseRole if role is not DatabaseRole.owner]
    names = sql.SQL(", ").join(map(sql.Identifier, others))
    with connection.transaction():
        connection.execute(sql.SQL("GRANT CONNECT, TEMPORARY ON DATABASE {} TO {}").format(sql.Identifier(connection.info.dbname), names))
        connection.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(names))
        for relation in relations(connection):
            table = sql.Identifier("public", relation.name)
            connection.execute(sql.SQL("REVOKE ALL ON {} FROM PUBLIC, {}").format(table, names))
            for role in others:
                if rights := privileges(role, relation):
                    listed = sql.SQL(", ").join(map(sql.SQL, rights))
                    connection.execute(sql.SQL("GRANT {} ON {} TO {}").format(listed, table, sql.Identifier(role)))
                    granted += len(rights)
        writers = sql.SQL(", ").join(map(sql.Identifier, (DatabaseRole.backend, DatabaseRole.ingest, DatabaseRole.jobs)))
        connection.execute(sql.SQL("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {}").format(writers))
        for function in map(sql.SQL, INGEST_FUNCTIONS):
            connection.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC").format(function))
            connection.execute(sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(function, sql.Identifier(DatabaseRole.ingest)))
    return granted


def relations(connection: psycopg.Connection[Any]) -> Iterator[Relation]:
    """Tables and views of the schema, those of extensions left out."""
    rows = connection.execute(
        "SELECT relname, relkind IN ('v', 'm') FROM pg_class c WHERE relnamespace = 'public'::regnamespace "
        "AND relkind IN ('r', 'v', 'm', 'p') AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') ORDER BY 1"
    )
    for name, is_view in rows.fetchall():
        yield Relation(name, is_view)


def _verifier(connection: psycopg.Connection[Any], role: str, password: str) -> str:
    """The password as SCRAM verifier, computed here, so that neither the server's log nor its statistics ever see the password."""
    found = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
    return found.decode()
