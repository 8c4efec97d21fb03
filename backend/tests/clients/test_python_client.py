"""A Python client that openapi-python-client generates from what a running backend serves, run against it."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

SCRIPT = """
import sys
from wallwatch_client import AuthenticatedClient
from wallwatch_client.api.incidents import comment_incident, list_incidents
from wallwatch_client.models import NewComment

url, token, host = sys.argv[1:]
with AuthenticatedClient(base_url=url, token=token) as client:
    for incident in list_incidents.sync(client=client, host=host).items:
        answer = comment_incident.sync_detailed(incident.id, client=client, body=NewComment(text="seen by a script"))
        print(incident.symptom, int(answer.status_code))
"""


@pytest.fixture(scope="module")
def client(programs: Path, backend: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("python-client")
    with backend.client() as anonymous:
        document = anonymous.get("/api/v1/openapi.json").json()
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "config.yaml").write_text(
        "package_name_override: wallwatch_client\nproject_name_override: wallwatch-client\npost_hooks: []\n"
    )
    generator = programs / "python-client/bin/openapi-python-client"
    command = [
        str(generator),
        "generate",
        "--path",
        "openapi.json",
        "--config",
        "config.yaml",
        "--meta",
        "none",
        "--output-path",
        "wallwatch_client",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    written = {path.stem for path in (folder / "wallwatch_client/api").glob("*/*.py")}
    operations = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    dropped = [name for name in operations if "".join(f"_{each.lower()}" if each.isupper() else each for each in name) not in written]
    assert dropped == [], done.stdout
    return folder


def test_no_operation_is_dropped_and_incidents_are_read_and_commented(
    client: Path, programs: Path, backend: Any, admin: httpx.Client, apply_findings: Any, findings: Any
) -> None:
    host = f"py-{uuid4().hex[:6]}"
    apply_findings(findings.finding(host=host, started=datetime.now(UTC) - timedelta(minutes=5)))
    token = admin.post("/api/v1/tokens", json={"name": host, "role": "operator", "scopes": ["read", "incidents"]}).json()["token"]
    command = [str(programs / "python-client/bin/python"), "-c", SCRIPT, backend.url, token, host]
    done = subprocess.run(command, cwd=client, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.split(), done.returncode) == (["S1", "201"], 0), done.stderr
