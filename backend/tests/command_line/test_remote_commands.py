"""The commands over the API, against a real backend with real tokens."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from wallwatch.cli.main import app

Run = Callable[..., Any]


def new_token(client: httpx.Client, role: str) -> str:
    made = client.post("/api/v1/tokens", json={"name": f"cli-{uuid4().hex[:8]}", "role": role, "ttl_days": 1})
    assert made.status_code == 201, made.text
    return str(made.json()["token"])


@pytest.fixture(scope="module")
def tokens(admin: httpx.Client) -> dict[str, str]:
    return {role: new_token(admin, role) for role in ("viewer", "operator", "admin")}


@pytest.fixture
def run(backend: Any, tokens: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs a command as a role, and returns its result."""
    monkeypatch.setenv("WALLWATCH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("WALLWATCH_API_URL", backend.url)

    def command(*arguments: str, role: str = "operator", expected: int = 0, **more: Any) -> Any:
        monkeypatch.setenv("WALLWATCH_TOKEN", tokens[role])
        result = CliRunner().invoke(app, list(arguments), **more)
        assert result.exit_code == expected, (result.output, result.exception)
        return result

    return command


@pytest.fixture
def incident(operator: httpx.Client, findings: Any, apply_findings: Any, host: str) -> dict[str, Any]:
    """An open incident on a host that no other test has."""
    apply_findings(findings.finding("S1", host=host, started=datetime.now(UTC)))
    found: dict[str, Any] = operator.get("/api/v1/incidents", params={"host": host}).json()["items"][0]
    return found


def test_a_list_in_each_format_has_the_incident(run: Run, incident: dict[str, Any], host: str) -> None:
    of_host = ("incidents", "list", "--host", host)
    table = run(*of_host).stdout.splitlines()
    assert table[0].split()[:3] == ["ID", "SEVERITY", "STATE"]
    assert table[1].split()[0] == incident["id"][:8]
    assert json.loads(run(*of_host, "--json").stdout)[0]["id"] == incident["id"]
    assert yaml.safe_load(run(*of_host, "-o", "yaml").stdout)[0]["title"] == incident["title"]
    (row,) = csv.DictReader(io.StringIO(run(*of_host, "-o", "csv").stdout))
    assert (row["id"], row["severity"], row["host"]) == (incident["id"][:8], incident["severity"], incident["subject"])
    assert run("incidents", "list", "--host", f"{host}-none").stdout == "none\n"


def test_work_on_an_incident(run: Run, incident: dict[str, Any], host: str, operator: httpx.Client) -> None:
    path = f"/api/v1/incidents/{incident['id']}"
    assert "acknowledged" in run("incidents", "ack", incident["id"][:13]).stdout
    assert operator.get(path).json()["acknowledged_by"].startswith("token:cli-")
    run("incidents", "comment", incident["id"], "cable swapped")
    of_nobody = ("incidents", "list", "--host", host, "--unassigned")
    assert run(*of_nobody).stdout != "none\n"
    run("incidents", "assign", incident["id"], "viewer")
    assert run(*of_nobody).stdout == "none\n"
    for _ in range(2):
        run("incidents", "link", incident["id"], "jira", "OPS-7", "--url", "https://jira.example/browse/OPS-7")
    run("incidents", "link", incident["id"], "github", "org/repo#1")
    shown = operator.get(path).json()
    assert [(ref["system"], ref["key"]) for ref in shown["external_refs"]] == [("jira", "OPS-7"), ("github", "org/repo#1")]
    assert shown["assignee"] == "viewer"
    text = run("incidents", "show", incident["id"]).stdout
    assert "cable swapped" in text
    assert "jira OPS-7 https://jira.example/browse/OPS-7" in text
    run("incidents", "assign", incident["id"])
    assert operator.get(path).json()["assignee"] is None
    run("incidents", "resolve", incident["id"])
    assert run("incidents", "list", "--host", host).stdout == "none\n"
    assert json.loads(run("incidents", "list", "--host", host, "--all", "--json").stdout)[0]["state"] == "resolved"
    run("incidents", "reopen", incident["id"])
    assert operator.get(path).json()["state"] != "resolved"


def test_each_kind_of_failure_has_its_exit_code(
    run: Run, incident: dict[str, Any], monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    assert "operator" in run("incidents", "ack", incident["id"], role="viewer", expected=3).stderr
    assert run("incidents", "show", str(uuid4()), expected=4).stderr
    assert "id" in run("incidents", "show", "xyz", expected=2).stderr
    assert run("silences", "create", "host=x", "-r", "x", "--until", "2020-01-01T00:00Z", expected=5).stderr
    assert "severity" in run("incidents", "list", "--severity", "loud", expected=5).stderr
    monkeypatch.setenv("WALLWATCH_API_URL", f"http://127.0.0.1:{free_port}")
    down = run("incidents", "list", expected=6)
    assert "cannot be reached" in down.stderr
    assert down.stdout == ""
    monkeypatch.setenv("WALLWATCH_API_URL", "nonsense")
    assert "https://wallwatch.example" in run("incidents", "list", expected=2).stderr


def test_without_a_token_the_command_says_where_to_put_one(backend: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WALLWATCH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("WALLWATCH_API_URL", backend.url)
    result = CliRunner().invoke(app, ["incidents", "list"])
    assert result.exit_code == 3
    assert "wallwatch profile set" in result.stderr


def test_a_profile_is_stored_for_its_owner_only_and_used(
    backend: Any, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "folder" / "config.toml"
    monkeypatch.setenv("WALLWATCH_CONFIG", str(file))

    def command(*arguments: str, **more: Any) -> Any:
        return CliRunner().invoke(app, list(arguments), **more)

    assert command("profile", "set", "here", "--url", backend.url, input=tokens["viewer"] + "\n").exit_code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert tokens["viewer"] not in command("profile", "list").output
    assert command("profile", "check").stdout.endswith("role viewer\n")
    assert command("profile", "set", "other", "--url", "https://wallwatch.example", input=tokens["viewer"]).exit_code == 0
    assert command("profile", "check").stdout.startswith(backend.url), "the first profile stays the current one"
    monkeypatch.setenv("WALLWATCH_TOKEN", tokens["operator"])
    assert command("profile", "check", "--profile", "here").stdout.endswith("role operator\n")
    assert command("profile", "remove", "here").exit_code == 0
    assert command("profile", "check", "--profile", "here").exit_code == 2
    file.chmod(0o644)
    refused = command("profile", "list")
    assert refused.exit_code == 2
    assert f"chmod 600 {file}" in refused.stderr


def test_silences_from_creation_to_end(run: Run, incident: dict[str, Any], host: str, operator: httpx.Client) -> None:
    preview = run("silences", "create", f"host={host}", "--reason", "swap", "--dry-run").stdout
    assert preview.startswith("It would suppress 1 incidents")
    made = run("silences", "create", f"host={host}", "symptom=~S.", "--reason", "swap", "--until", "3h").stdout.strip()
    silence = operator.get(f"/api/v1/silences/{made}").json()
    assert [(each["name"], each["op"], each["value"]) for each in silence["matchers"]] == [("host", "=", host), ("symptom", "=~", "S.")]
    assert datetime.fromisoformat(silence["ends_at"]) - datetime.fromisoformat(silence["starts_at"]) >= timedelta(hours=2, minutes=50)
    assert operator.get(f"/api/v1/incidents/{incident['id']}").json()["state"] == "suppressed"
    assert made in {each["id"] for each in json.loads(run("silences", "list", "-n", "0", "--json").stdout)}
    run("silences", "end", made)
    assert operator.get(f"/api/v1/silences/{made}").json()["state"] == "expired"
    assert "matcher" in run("silences", "create", "host", "-r", "x", expected=2).stderr
    assert "zone" in run("silences", "create", "host=x", "-r", "x", "--until", "2026-01-01T00:00", expected=2).stderr


def test_remedies_are_listed_and_the_emergency_stop_works(run: Run, operator: httpx.Client) -> None:
    assert run("remedies", "list", "--host", f"none-{uuid4().hex[:8]}").stdout == "none\n"
    actions = {row["action"] for row in csv.DictReader(io.StringIO(run("remedies", "actions", "-o", "csv").stdout))}
    assert actions == {action["action"] for action in operator.get("/api/v1/remedy-actions").json()}
    run("remedies", "stop", "smoke in row 4")
    try:
        assert "smoke in row 4" in run("remedies", "status").stdout
        assert "--yes" in run("remedies", "resume", role="admin", expected=2).stderr, "nobody is there to answer"
    finally:
        run("remedies", "resume", "--yes", role="admin")
    assert json.loads(run("remedies", "status", "--json").stdout)["stop"] is None


def test_fleet_and_hosts_show_what_the_api_has(run: Run, agent: Any, host: str) -> None:
    row = json.loads(run("hosts", "show", host, "--json").stdout)
    assert (row["host"], row["connected"]) == (host, True)
    assert host in run("hosts", "list", "--connected", "-n", "0").stdout
    assert run("hosts", "show", f"{host}-none", expected=4).stderr
    assert set(json.loads(run("fleet", "counts", "--json").stdout)) == {"at_limit", "likely", "others", "declining"}
    assert run("fleet", "forecasts", "--within", "20").stdout
    assert run("fleet", "list", "-o", "csv").stdout.splitlines()[0].startswith("host,pci,rack")
    assert run("fleet", "show", host, "0000:3b:00.0", expected=4).stderr


def test_any_operation_can_be_called(run: Run, incident: dict[str, Any], host: str, tmp_path: Path) -> None:
    counts = json.loads(run("api", "call", "get", "/incidents/counts", "-q", f"host={host}").stdout)
    assert counts["total"] == 1
    body = tmp_path / "body.json"
    body.write_text(json.dumps({"text": "from a file"}))
    answer = json.loads(run("api", "call", "POST", f"/api/v1/incidents/{incident['id']}/comments", "-d", f"@{body}").stdout)
    assert answer["timeline"][-1]["text"] == "from a file"
    assert "not JSON" in run("api", "call", "POST", "/incidents", "-d", "{", expected=2).stderr


def test_a_watch_prints_again_until_it_is_interrupted(run: Run, incident: dict[str, Any], host: str, monkeypatch: Any) -> None:
    from wallwatch.cli.remote import running

    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(running.time, "sleep", sleep)
    watched = run("incidents", "list", "--host", host, "--json", "--watch", "5", expected=130)
    assert [json.loads(line)[0]["id"] for line in watched.stdout.splitlines() if line.startswith("[")] == [incident["id"]] * 2
    assert slept == [5, 5]


def test_the_shell_completes_commands_and_names(run: Run, backend: Any, tokens: dict[str, str], incident: dict[str, Any]) -> None:
    def completed(words: str) -> set[str]:
        environment = {
            **os.environ,
            "WALLWATCH_TOKEN": tokens["viewer"],
            "_WALLWATCH_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        }
        code = "from wallwatch.cli.main import app; app(prog_name='wallwatch')"
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
        return set(ran.stdout.split())

    assert {"list", "show", "ack"} <= completed("wallwatch incidents ")
    assert completed("wallwatch incidents list --severity ") == {"warning", "critical"}
    assert completed(f"wallwatch incidents ack {incident['id'][:6]}") == {incident["id"]}
