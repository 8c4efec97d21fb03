"""The client of docs/examples/clients: generated from what a running backend serves, type-checked, and run against it.

A field that the API does not have is found before it runs: the fixture checks a wrong copy, too.
"""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_local.paths import REPOSITORY

EXAMPLE = REPOSITORY / "docs" / "examples" / "clients"
PACKAGES = REPOSITORY / "frontend" / "node_modules"
CHECKED = ("--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "--skipLibCheck")


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"incident_hold_s": 0}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def client(backend: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the built client."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "node_modules").symlink_to(PACKAGES)
    (folder / "package.json").write_text('{"type": "module"}')
    text = (EXAMPLE / "tickets.ts").read_text()
    (folder / "tickets.ts").write_text(text)
    (folder / "wrong.ts").write_text(text.replace("external_refs: known,", "external_references: known,"))
    generator = "node_modules/.bin/openapi-typescript"
    generated = run(folder, generator, f"{backend.url}/api/v1/openapi.json", "-o", "schema.d.ts")
    assert generated.returncode == 0, generated.stderr
    # One run for both, because it takes some seconds. What is wrong is only what was made wrong.
    built = run(folder, "node_modules/.bin/tsc", *CHECKED, "--outDir", "build", "tickets.ts", "wrong.ts")
    errors = [line for line in built.stdout.splitlines() if not line.startswith(" ")]
    assert [error for error in errors if not error.startswith("wrong.ts(")] == []
    assert "Property 'external_references' does not exist" in errors[0]
    return folder


def test_the_readme_builds_it_with_these_options_and_these_versions() -> None:
    text = (EXAMPLE / "README.md").read_text()
    assert f"npx tsc {' '.join(CHECKED)} --outDir build tickets.ts" in text
    package = json.loads((REPOSITORY / "frontend" / "package.json").read_text())
    versions = package["dependencies"] | package["devDependencies"]
    for name in ("openapi-fetch", "openapi-typescript", "typescript"):
        assert f"{name}@{'.'.join(versions[name].split('.')[:2])} " in text


def test_it_type_checks_and_notes_a_ticket_on_each_incident_of_a_host_and_acknowledges_it_once(
    client: Path, backend: Any, admin: httpx.Client, operator: httpx.Client, apply_findings: Any, findings: Any
) -> None:
    host, other = f"ts-{uuid4().hex[:6]}", f"ts-{uuid4().hex[:6]}"
    since = datetime.now(UTC) - timedelta(minutes=5)
    pcis = [f"0000:{number:02x}:00.0" for number in range(5)]
    apply_findings(*(findings.finding(host=host, pci=pci, started=since) for pci in pcis), findings.finding(host=other, started=since))
    [together] = operator.get("/api/v1/incidents", params={"host": host}).json()["items"]
    for finding in operator.get(f"/api/v1/incidents/{together['id']}").json()["findings"][1:]:
        split = {"finding_ids": [finding["finding_id"]]}
        assert operator.post(f"/api/v1/incidents/{together['id']}/split", json=split).status_code == 201
    token = admin.post("/api/v1/tokens", json={"name": host, "role": "operator", "scopes": ["read", "incidents"]}).json()["token"]
    for _ in range(2):
        done = run(client, "node", "build/tickets.js", backend.url, token, host, "OPS-17")
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == len(pcis)  # three pages of two
    found = operator.get("/api/v1/incidents", params={"host": host}).json()["items"]
    assert [(each["state"], each["external_refs"][0]["key"]) for each in found] == [("acknowledged", "OPS-17")] * len(pcis)
    entries = operator.get(f"/api/v1/incidents/{found[0]['id']}").json()["timeline"]
    assert sum(entry["kind"] == "acknowledged" for entry in entries) == 1
    [untouched] = operator.get("/api/v1/incidents", params={"host": other}).json()["items"]
    assert (untouched["state"], untouched["external_refs"]) == ("open", [])


def test_what_the_api_refuses_is_said_in_its_words(client: Path, backend: Any) -> None:
    done = run(client, "node", "build/tickets.js", backend.url, "ww_wrong", "host01", "OPS-17")
    assert done.returncode != 0
    assert "Error: not_signed_in: " in done.stderr
