"""The way back from tickets: the program in docs/examples/tickets runs against a real backend, with webhooks in the systems' own forms."""

import base64
import hmac
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_local.paths import REPOSITORY

PROGRAM = REPOSITORY / "docs" / "examples" / "tickets" / "listen.py"
SECRET = "a secret of the ticket system"


def github(incident_id: str, action: str) -> dict[str, Any]:
    done = {"taken up": "assigned", "closed": "closed", "opened again": "reopened"}[action]
    labels = [{"name": "team-a"}, {"name": f"wallwatch-{incident_id}"}]
    return {"action": done, "issue": {"number": 7, "labels": labels}, "sender": {"login": "ann"}}


def jira(incident_id: str, action: str) -> dict[str, Any]:
    category = {"taken up": "indeterminate", "closed": "done", "opened again": "new"}[action]
    status = {"name": category.title(), "statusCategory": {"key": category}}
    issue = {"key": "OPS-7", "fields": {"labels": ["wallwatch", f"wallwatch-{incident_id}"], "status": status}}
    changelog = {"items": [{"field": "status", "fromString": "a", "toString": "b"}]}
    return {"webhookEvent": "jira:issue_updated", "issue": issue, "user": {"displayName": "Ann"}, "changelog": changelog}


def servicenow(incident_id: str, action: str) -> dict[str, Any]:
    state = {"taken up": "2", "closed": "7", "opened again": "1"}[action]
    return {"number": "INC0007", "state": state, "correlation_id": incident_id, "by": "ann"}


Form = Callable[[str, str], dict[str, Any]]


class Listener:
    """The running program."""

    def __init__(self, url: str, token: str) -> None:
        environment = {"PATH": os.environ["PATH"], "WALLWATCH_URL": url, "WALLWATCH_TOKEN": token, "TICKETS_SECRET": SECRET}
        command = [sys.executable, str(PROGRAM), "--port", "0"]
        self._process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._url = f"http://127.0.0.1:{self._process.stdout.readline().rsplit(maxsplit=1)[-1]}"

    def post(self, event: dict[str, Any], header: str = "x-hub-signature-256", signature: str | None = None) -> httpx.Response:
        body = json.dumps(event).encode()
        given = signature or "sha256=" + hmac.new(SECRET.encode(), body, "sha256").hexdigest()
        return httpx.post(self._url, content=body, headers={header: given}, timeout=120)

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=60)


@pytest.fixture(scope="module")
def listener(admin: httpx.Client, backend: Any) -> Iterator[Listener]:
    body = {"name": f"listener-{uuid4().hex[:6]}", "role": "operator", "scopes": ["read", "incidents"]}
    made = admin.post("/api/v1/tokens", json=body)
    assert made.status_code == 201, made.text
    listener = Listener(backend.url, made.json()["token"])
    yield listener
    listener.stop()


@pytest.fixture
def incident(operator: httpx.Client, findings: Any, eventually: Any) -> dict[str, Any]:
    host = f"back-{uuid4().hex[:6]}"
    findings.send(findings.finding(host=host, started=datetime.now(UTC)))
    found = eventually(lambda: operator.get("/api/v1/incidents", params={"host": host}).json()["items"])
    one: dict[str, Any] = found[0]
    return one


def of(client: httpx.Client, incident: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/api/v1/incidents/{incident['id']}").json()
    return found


@pytest.mark.parametrize("form", [github, jira, servicenow])
def test_what_people_do_with_a_ticket_happens_to_its_incident(
    listener: Listener, incident: dict[str, Any], operator: httpx.Client, form: Form
) -> None:
    for action, state in (("taken up", "acknowledged"), ("closed", "resolved"), ("opened again", "reopened")):
        answer = listener.post(form(incident["id"], action))
        assert answer.status_code == 200, answer.text
        assert of(operator, incident)["state"] == state
    texts = [entry.get("text") or "" for entry in of(operator, incident)["timeline"]]
    assert any("by ann" in text.lower() for text in texts), texts


@pytest.mark.parametrize("form", [github, jira, servicenow])
def test_what_is_so_already_changes_nothing(listener: Listener, incident: dict[str, Any], operator: httpx.Client, form: Form) -> None:
    """The connector closes a ticket after its incident was resolved, and hears of it here."""
    before = of(operator, incident)["version"]
    assert listener.post(form(incident["id"], "opened again")).text == "is open already"
    assert of(operator, incident)["version"] == before


def test_a_wrong_signature_is_refused_whatever_it_says(listener: Listener, incident: dict[str, Any], operator: httpx.Client) -> None:
    event = github(incident["id"], "closed")
    other = "sha256=" + hmac.new(b"another secret of nobody", json.dumps(event).encode(), "sha256").hexdigest()
    for signature in (other, "sha256=", "nonsense"):
        assert listener.post(event, signature=signature).status_code == 401
    assert of(operator, incident)["state"] == "open"


def test_signatures_of_jira_and_servicenow_are_known_too(listener: Listener, incident: dict[str, Any]) -> None:
    assert listener.post(jira(incident["id"], "opened again"), header="x-hub-signature").status_code == 200
    event = servicenow(incident["id"], "opened again")
    signature = base64.b64encode(hmac.new(SECRET.encode(), json.dumps(event).encode(), "sha256").digest()).decode()
    assert listener.post(event, signature=signature).status_code == 200


@pytest.mark.parametrize(
    ("event", "status"),
    [
        (github("00000000-0000-4000-8000-000000000000", "closed"), 200),  # deleted long ago: a repetition would not help
        ({"action": "closed", "issue": {"number": 1, "labels": []}}, 200),
        ({"zen": "Keep it logically awesome."}, 200),
        (servicenow("../../accounts", "closed"), 200),
        ({"webhookEvent": "jira:issue_updated", "issue": 7}, 400),
    ],
)
def test_what_is_about_no_incident_does_nothing(listener: Listener, event: dict[str, Any], status: int) -> None:
    assert listener.post(event).status_code == status
