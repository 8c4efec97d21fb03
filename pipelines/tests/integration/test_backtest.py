"""`wallwatch policy backtest` over the events of a real database, and over a recording."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from typer.testing import CliRunner

from wallwatch.cli.main import app

NOW = datetime.now(UTC).replace(microsecond=0)


def story(first: str, second: str) -> list[tuple[float, str, str, dict[str, Any]]]:
    """(hours ago, host, kind, fields) of an address that two hosts have at a time."""
    given = {"result": "ok", "address": f"10.0.0.1/{first}", "vxlan_network": 7}
    return [(5.0, first, "cni_add", given), (4.0, second, "cni_add", given), (3.0, first, "soft_lockup", {})]


def run(*arguments: str, **environment: str) -> Any:
    return CliRunner().invoke(app, ["policy", "backtest", *arguments], env=environment)


def test_stored_events_of_a_time_are_run_over(connection: psycopg.Connection[Any], database: str, host: str) -> None:
    first, second = f"{host}-a", f"{host}-b"
    for name in (first, second):
        connection.execute("INSERT INTO host (host) VALUES (%s)", [name])
    for hours, name, kind, fields in story(first, second):
        connection.execute(
            "INSERT INTO event (time, host_id, kind, other) SELECT %s, host_id, %s, %s FROM host WHERE host = %s",
            [NOW - timedelta(hours=hours), kind, Jsonb(fields), name],
        )
    found = run("--database", "--json", WALLWATCH_DATABASE_URL=database)
    assert found.exit_code == 0, found.output
    violations = [one for one in map(json.loads, found.stdout.splitlines()) if host in str(one["subject"])]
    assert [one["policy"] for one in violations] == ["address-one-container", "host-cpus-run"]
    assert [step["propositions"] for step in violations[0]["trace"]] == [["ADDRESS_GIVEN"], ["ADDRESS_GIVEN"]]
    # The first of the two is outside.
    later = run("--database", "--from", "270m", "--policy", "address-one-container", WALLWATCH_DATABASE_URL=database)
    assert "violated    0 times; 1 subjects" in later.stdout
    none = run("--database", "--from", "2020-01-01T00:00:00Z", "--to", "2020-01-02", WALLWATCH_DATABASE_URL=database)
    assert "no matching events" in none.stdout


def test_a_recording_is_run_over_and_what_cannot_be_read_is_counted(tmp_path: Path) -> None:
    lines = [
        {
            "name": "event",
            "timestamp": (NOW - timedelta(hours=hours)).timestamp() * 1e9,
            "tags": {"host": host, "kind": kind},
            "fields": fields,
        }
        for hours, host, kind, fields in story("a", "b")
    ]
    text = "\n".join(json.dumps({**line, "timestamp": int(line["timestamp"])}) for line in lines)  # type: ignore[call-overload]
    (tmp_path / "telemetry.jsonl").write_text(text + "\nno json\n[1]\n")
    found = run(str(tmp_path), "--policy", "address-one-container")
    assert found.exit_code == 0, found.output
    assert "address-one-container  vxlan 7 10.0.0.1/a: ADDRESS_GIVEN, then ADDRESS_GIVEN" in found.stdout
    assert "lines that are not JSON: 1" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "either a recording or --database is required"),
        (("x", "--database"), "either a recording or --database is required"),
        (("nowhere",), "is not a recording"),
        (("--database", "--from", "yesterday"), "is not a time"),
        (("--database", "--from", "1h", "--to", "2h"), "is not before --to"),
        (("--database", "--policy", "none"), "unknown policy none"),
        (("--database",), "cannot be read from WALLWATCH_DATABASE_URL"),
    ],
)
def test_what_is_wrong_is_reported(arguments: tuple[str, ...], says: str) -> None:
    found = run(*arguments, WALLWATCH_DATABASE_URL="postgresql://127.0.0.1:1/none")
    assert found.exit_code == 2
    assert says in found.stderr
