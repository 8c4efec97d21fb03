"""`wallwatch export` and `wallwatch apply` against a real backend."""

import json
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
from wallwatch_local.paths import REPOSITORY

Run = Callable[..., Any]
SLACK = "http://127.0.0.1:9/services/T0/B0/very-secret"
"""An address needs no name server, and nothing listens there."""


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"webhook_allow_private": True}


@pytest.fixture(scope="module")
def token(admin: httpx.Client) -> str:
    made = admin.post("/api/v1/tokens", json={"name": f"apply-{uuid4().hex[:8]}", "role": "admin", "ttl_days": 1})
    assert made.status_code == 201, made.text
    return str(made.json()["token"])


@pytest.fixture
def run(backend: Any, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("WALLWATCH_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("WALLWATCH_API_URL", backend.url)
    monkeypatch.setenv("WALLWATCH_TOKEN", token)

    def command(*arguments: str, expected: int = 0, **more: Any) -> Any:
        result = CliRunner().invoke(app, list(arguments), **more)
        assert result.exit_code == expected, (result.output, result.exception)
        return result

    return command


def hours(count: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=count)).isoformat(timespec="seconds")


@pytest.fixture
def document() -> dict[str, Any]:
    """One of each kind, with names that no other test has."""
    name = f"t{uuid4().hex[:8]}"
    return {
        "version": 1,
        "slo_classes": [{"name": name, "min_mbps": 100, "max_mbps": 1000, "p99_us": 50}],
        "slo_rules": [{"slo_class": name, "matchers": [{"name": "namespace", "op": "=", "value": name}]}],
        "policies": [
            {
                "id": name,
                "title": "Errors end",
                "formula": "G(!bad)",
                "subject": "rnic",
                "propositions": {"bad": {"kind": ["device_vanished"]}},
                "violation": "It was reset.",
            }
        ],
        "webhooks": [{"name": name, "url": f"${{{name.upper()}}}", "format": "slack", "matchers": [{"name": "rack", "value": "r1"}]}],
        "silences": [
            {
                "matchers": [{"name": "host", "op": "=", "value": name}],
                "starts_at": hours(1),
                "ends_at": hours(2),
                "reason": "rack move",
                "kind": "maintenance",
            }
        ],
    }


@pytest.fixture
def file(document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(document["webhooks"][0]["name"].upper(), SLACK)
    return written(tmp_path, document)


def written(folder: Path, document: dict[str, Any]) -> Path:
    file = folder / "wallwatch.yaml"
    file.write_text(yaml.safe_dump(document))
    return file


def test_a_file_is_applied_once_and_then_changes_nothing(
    run: Run, file: Path, document: dict[str, Any], tmp_path: Path, admin: httpx.Client
) -> None:
    name = document["slo_classes"][0]["name"]
    planned = json.loads(run("apply", "-f", str(file), "--dry-run", "--json", expected=1).stdout)
    assert [(step["action"], step["kind"]) for step in planned] == [
        ("create", "SLO class"),
        ("update", "SLO rules"),
        ("create", "policy"),
        ("create", "webhook"),
        ("create", "silence"),
    ]
    assert "--secrets-file" in run("apply", "-f", str(file), expected=2).stderr
    assert name not in {item["name"] for item in admin.get("/api/v1/isolation/slo-classes").json()}, "nothing was changed"
    secrets = tmp_path / "secrets"
    run("apply", "-f", str(file), "--secrets-file", str(secrets))
    assert secrets.read_text().startswith(f"{name}\twhsec_")
    assert secrets.stat().st_mode & 0o777 == 0o600
    webhook = next(item for item in admin.get("/api/v1/webhooks").json()["items"] if item["name"] == name)
    assert (webhook["url"], webhook["format"], webhook["enabled"]) == (SLACK, "slack", True)
    assert admin.get(f"/api/v1/policies/{name}").json()["lifecycle"] == "enabled"
    assert run("apply", "-f", str(file), "--dry-run").stdout == "Nothing differs.\n"
    assert run("apply", "-f", str(file)).stdout == "Nothing differs.\n"


def test_what_was_exported_changes_nothing_and_has_no_secret(run: Run, file: Path, tmp_path: Path) -> None:
    run("apply", "-f", str(file), "--secrets-file", str(tmp_path / "secrets"))
    exported = run("export").stdout
    assert "very-secret" not in exported
    assert "whsec_" not in exported
    again = tmp_path / "exported.yaml"
    again.write_text(exported)
    assert run("apply", "-f", str(again), "--dry-run").stdout == "Nothing differs.\n", "an unset address stays as it is"
    assert "very-secret" in run("export", "--with-urls", "--section", "webhooks").stdout
    assert set(json.loads(run("export", "--section", "silences", "--json").stdout)) == {"version", "silences"}
    assert run("export").stdout == exported


def test_a_change_names_the_fields_and_is_made(
    run: Run, file: Path, document: dict[str, Any], tmp_path: Path, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = document["slo_classes"][0]["name"]
    run("apply", "-f", str(file), "--secrets-file", str(tmp_path / "secrets"))
    document["slo_classes"][0]["max_mbps"] = 2000
    document["policies"][0].update(severity="critical", enabled=False)
    document["webhooks"][0].update(format="native", enabled=False, repeat_interval_s=3600)
    document["silences"][0]["ends_at"] = hours(5)
    monkeypatch.setenv(name.upper(), "http://127.0.0.1:9/another")
    written(tmp_path, document)
    described = run("apply", "-f", str(file), "--dry-run", expected=1).stdout
    assert "max_mbps: 1000.0 -> 2000" in described
    assert 'severity: "warning" -> "critical"' in described
    assert 'url: "(hidden)" -> "(another)"' in described
    assert "127.0.0.1" not in described
    run("apply", "-f", str(file))
    policy = admin.get(f"/api/v1/policies/{name}").json()
    assert (policy["lifecycle"], policy["draft"]["definition"]["severity"]) == ("disabled", "critical")
    webhook = next(item for item in admin.get("/api/v1/webhooks").json()["items"] if item["name"] == name)
    assert (webhook["format"], webhook["enabled"], webhook["repeat_interval_s"]) == ("native", False, 3600)
    assert run("apply", "-f", str(file), "--dry-run").stdout == "Nothing differs.\n"


def test_the_key_of_a_pager_is_a_variable_and_is_sent_only_when_it_is_another(
    run: Run, tmp_path: Path, admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"pager-{uuid4().hex[:8]}"
    variable = f"WEBHOOK_KEY_{name.upper().replace('-', '_')}"
    pager = {"name": name, "format": "pagerduty", "url": "http://127.0.0.1:9/v2/enqueue", "credential": f"${{{variable}}}"}
    file = written(tmp_path, {"version": 1, "webhooks": [pager]})
    assert variable in run("apply", "-f", str(file), "--dry-run", expected=2).stderr, "a new one needs its key"
    monkeypatch.setenv(variable, "the-first-key-of-this-pager")
    run("apply", "-f", str(file), "--secrets-file", str(tmp_path / "secrets"))
    assert run("apply", "-f", str(file), "--dry-run").stdout == "Nothing differs.\n"

    def stored() -> str:
        return str(next(item for item in admin.get("/api/v1/webhooks").json()["items"] if item["name"] == name)["credential_fingerprint"])

    first = stored()
    monkeypatch.setenv(variable, "the-second-key-of-this-pager")
    described = run("apply", "-f", str(file), "--dry-run", expected=1).stdout
    assert "credential_fingerprint" in described
    assert "second-key" not in described
    run("apply", "-f", str(file))
    assert stored() != first
    exported = run("export", "--section", "webhooks").stdout
    assert f"credential: ${{{variable}}}" in exported
    monkeypatch.delenv(variable)
    assert run("apply", "-f", str(file), "--dry-run").stdout == "Nothing differs.\n", "an unset key stays as it is"


def test_only_prune_deletes_and_only_in_sections_of_the_file(
    run: Run, file: Path, document: dict[str, Any], tmp_path: Path, admin: httpx.Client
) -> None:
    name = document["slo_classes"][0]["name"]
    run("apply", "-f", str(file), "--secrets-file", str(tmp_path / "secrets"))
    empty = tmp_path / "empty.yaml"
    empty.write_text("version: 1\nslo_rules: []\nslo_classes: []\nsilences: []\npolicies: []\n")
    run("apply", "-f", str(empty), "--dry-run", expected=1)
    assert "--yes" in run("apply", "-f", str(empty), "--prune", expected=2).stderr, "nobody is there to answer"
    run("apply", "-f", str(empty), "--prune", "--yes")
    assert admin.get("/api/v1/isolation/slo-classes").json() == []
    assert admin.get(f"/api/v1/policies/{name}").json()["lifecycle"] == "disabled", "a policy that ran is kept as a record"
    assert admin.get("/api/v1/silences", params={"state": ["pending", "active"]}).json()["items"] == []
    assert name in {item["name"] for item in admin.get("/api/v1/webhooks").json()["items"]}, "the file has no section webhooks"
    assert run("apply", "-f", str(empty), "--prune", "--dry-run").stdout == "Nothing differs.\n"


def test_a_policy_of_the_catalogue_is_switched_but_not_redefined(run: Run, tmp_path: Path, admin: httpx.Client) -> None:
    policy = next(item for item in admin.get("/api/v1/policies").json()["items"] if not item["own"])
    entry: dict[str, Any] = {"id": policy["id"], "enabled": False}
    file = written(tmp_path, {"version": 1, "policies": [entry]})
    run("apply", "-f", str(file))
    assert admin.get(f"/api/v1/policies/{policy['id']}").json()["lifecycle"] == "disabled"
    entry["enabled"] = True
    run("apply", "-f", str(written(tmp_path, {"version": 1, "policies": [entry]})))
    assert admin.get(f"/api/v1/policies/{policy['id']}").json()["lifecycle"] == "enabled"
    entry.update(title="t", formula="G(x)", violation="v")
    assert "catalogue" in run("apply", "-f", str(written(tmp_path, {"version": 1, "policies": [entry]})), expected=2).stderr


def test_a_formula_that_the_server_refuses_is_found_by_the_dry_run(run: Run, file: Path, document: dict[str, Any], tmp_path: Path) -> None:
    document["policies"][0]["formula"] = "G(("
    assert document["policies"][0]["id"] in run("apply", "-f", str(written(tmp_path, document)), "--dry-run", expected=2).stderr


def test_what_fails_says_how_much_was_done_and_can_be_run_again(
    run: Run, file: Path, document: dict[str, Any], tmp_path: Path, admin: httpx.Client
) -> None:
    document["webhooks"][0]["format"] = "alertmanager_api"
    document["webhooks"][0]["group_by"] = ["host"]
    written(tmp_path, document)
    failed = run("apply", "-f", str(file), "--secrets-file", str(tmp_path / "secrets"), expected=5)
    assert "3 of 5 changes are made" in failed.stderr
    document["webhooks"][0]["group_by"] = []
    written(tmp_path, document)
    run("apply", "-f", str(file), "--secrets-file", str(tmp_path / "secrets"))
    assert run("apply", "-f", str(file), "--dry-run").stdout == "Nothing differs.\n"


def test_the_example_of_the_documentation_can_be_applied(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (REPOSITORY / "docs" / "cli.md").read_text()
    example = page.split("```yaml\n")[1].split("```")[0]
    monkeypatch.setenv("WEBHOOK_URL_ON_CALL", SLACK)
    file = tmp_path / "wallwatch.yaml"
    file.write_text(example.replace("2026-12-", "2096-12-"))
    run("apply", "-f", str(file), "--secrets-file", str(tmp_path / "secrets"))
    assert run("apply", "-f", str(file), "--dry-run").stdout == "Nothing differs.\n"
