"""The Grafana dashboard on the database: each query runs as the role `wallwatch_reader`, and gives columns that Grafana can draw."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from wallwatch.store.roles import DatabaseRole
from wallwatch_local.paths import REPOSITORY
from wallwatch_local.template_databases import as_role

DASHBOARD = json.loads((REPOSITORY / "docs" / "grafana" / "wallwatch-database.json").read_text())
FROM, TO = "'2026-11-21T00:00:00Z'", "'2026-11-22T00:00:00Z'"


def queries() -> Iterator[tuple[str, str, str]]:
    """(where, format, SQL) of every query in the dashboard."""
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["format"], target["rawSql"]
    for annotation in DASHBOARD["annotations"]["list"]:
        yield f"annotation {annotation['name']}", "annotation", annotation["target"]["rawSql"]
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield f"variable {variable['name']}", "variable", variable["query"]


QUERIES = list(queries())


def filled(query: str) -> str:
    """The query as Grafana sends it: its macros and variables replaced.

    >>> filled("SELECT $__timeGroup(bucket, $__interval) FROM t WHERE $__timeFilter(bucket) AND a = ANY (ARRAY[${rack:sqlstring}])")[:60]
    "SELECT floor(extract(epoch from bucket)/300)*300 FROM t WHER"
    """
    query = query.replace("${rack:sqlstring}", "'r1','r2'").replace("$__interval", "'5m'")
    query = re.sub(r"\$__timeFilter\(([\w.]+)\)", rf"\1 BETWEEN {FROM} AND {TO}", query)
    widths = {"5m": 300, "1d": 86400}
    query = re.sub(
        r"\$__timeGroup\(([\w.]+), '(\w+)'\)",
        lambda macro: f"floor(extract(epoch from {macro[1]})/{widths[macro[2]]})*{widths[macro[2]]}",
        query,
    )
    return query.replace("'5m'", "300")


@pytest.fixture(scope="module")
def reader(migrated_url: str) -> Iterator[psycopg.Connection[Any]]:
    url = as_role(migrated_url, DatabaseRole.reader).replace("+psycopg", "")
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        yield connection


@pytest.mark.parametrize(("where", "form", "query"), QUERIES, ids=[where for where, _, _ in QUERIES])
def test_a_query_of_the_dashboard_runs_as_the_role_of_dashboards(reader: Any, where: str, form: str, query: str) -> None:
    complete = filled(query)
    assert "$" not in complete, "Grafana would send it as it is"
    columns = [column.name for column in reader.execute(complete.encode()).description]
    if form == "time_series":
        assert columns[0] == "time"
        assert len(columns) >= 2
    elif form == "annotation":
        assert columns == ["time", "text"]
    else:
        assert columns


def test_the_queries_show_what_was_stored(migrated_url: str, reader: Any) -> None:
    with closing(psycopg.connect(migrated_url.replace("+psycopg", ""), autocommit=True)) as owner:
        made = "INSERT INTO rnic (host, pci, rack) VALUES ('host01', '0000:3b:00.0', 'r1') RETURNING rnic_id"
        [rnic_id] = owner.execute(made).fetchone() or [None]
        columns = "rnic_id, host, pci, rack, headroom, nearest_wall, change_seq"
        state = f"INSERT INTO rnic_state ({columns}) VALUES (%s, %s, %s, 'r1', 0.2, 'flows', 1)"
        owner.execute(state, [rnic_id, "host01", "0000:3b:00.0"])
    by_title = {where: query for where, _, query in QUERIES}
    assert reader.execute(filled(by_title["variable rack"]).encode()).fetchall() == [("r1",)]
    [row] = reader.execute(filled(by_title["Closest to a limit"]).encode()).fetchall()
    assert row[:2] + row[4:6] == ("host01", "0000:3b:00.0", "flows", 0.2)


def test_no_query_changes_anything_or_asks_for_what_the_role_must_not_see(reader: Any) -> None:
    for statement in (b"DELETE FROM incident", b"SELECT * FROM user_account", b"SELECT * FROM webhook"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(statement)
