"""Receivers get each state of remedies and rollouts, once, in order, in the chosen format."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import jsonschema
import pytest

from wallwatch_backend.notify.schemas import CONDITION_ENDS, EventType
from wallwatch_testing.local_http import LocalHttp, QuietHandler

PCI = "0000:3b:00.0"
ORDERS = [str(event) for event in EventType if not event.startswith("incident.") and event not in CONDITION_ENDS]


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"remedy_watch_s": 0.1, "remedy_always_hosts": 3, "public_url": "http://wallwatch.example/"}


@pytest.fixture
def received() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Address of a receiver, and the bodies that it got."""
    bodies: list[dict[str, Any]] = []

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

    server = LocalHttp(Handler)
    yield f"{server.url}/hook", bodies
    server.stop()


@pytest.fixture
def agent(fake_agents: Any, backend: Any, admin: httpx.Client, anonymous: httpx.Client) -> Iterator[Any]:
    """One host whose agent runs its commands."""
    made = fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}")
    made.credentials["opamp_url"] = backend.url.replace("http", "ws") + "/v1/opamp"
    with made:
        yield made


def subscribe(client: httpx.Client, url: str, **more: Any) -> str:
    made = client.post("/api/v1/webhooks", json={"name": "automation", "url": url, "events": ORDERS, **more})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def pace(client: httpx.Client, host: str, **more: Any) -> dict[str, Any]:
    """Order what is verified by the agent's word alone."""
    body = {"action": "pace-vf-unbinding", "host": host, "pci": PCI, "params": {"interval_ms": 500}, "mode": "apply", **more}
    answer = client.post("/api/v1/remedies", json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_each_state_of_a_remedy_is_sent_once_from_request_to_undo(
    operator: httpx.Client, admin: httpx.Client, agent: Any, received: Any, eventually: Any
) -> None:
    url, bodies = received
    subscribe(admin, url)
    remedy = pace(operator, agent.host, propose=True)
    admin.post(f"/api/v1/remedies/{remedy['id']}/approve")
    eventually(lambda: bodies and bodies[-1]["type"] == "remedy.change_confirmed")
    operator.post(f"/api/v1/remedies/{remedy['id']}/undo")
    eventually(lambda: bodies[-1]["type"] == "remedy.undone")
    assert [body["type"].removeprefix("remedy.") for body in bodies] == [
        "pending",
        "approved",
        "running",
        "verifying",
        "change_confirmed",
        "undone",
    ]
    assert [body["data"]["decided_by"] for body in bodies[:2]] == [None, "admin"]
    schema = operator.get("/api/v1/webhooks/schema").json()
    for body in bodies:
        jsonschema.validate(body, schema, format_checker=jsonschema.FormatChecker())


def test_dry_runs_and_other_hosts_are_not_sent(
    admin: httpx.Client, operator: httpx.Client, agent: Any, received: Any, eventually: Any, backend: Any
) -> None:
    url, bodies = received
    subscribe(admin, url, matchers=[{"name": "host", "op": "=", "value": "another"}])
    subscribe(admin, url, matchers=[{"name": "rack", "op": "=", "value": "r7"}])
    with backend.connect() as connection:
        connection.execute("INSERT INTO rnic (host, pci, rack) VALUES (%s, %s, 'r7')", [agent.host, PCI])
    pace(operator, agent.host, mode="dry_run")
    eventually(lambda: agent.commands)
    eventually(lambda: not operator.get("/api/v1/remedies", params={"host": agent.host, "state": ["approved", "running"]}).json()["items"])
    pace(operator, agent.host)
    eventually(lambda: bodies and bodies[-1]["type"] == "remedy.change_confirmed")
    assert [body["type"] for body in bodies] == ["remedy.approved", "remedy.running", "remedy.verifying", "remedy.change_confirmed"]


def test_a_remedy_of_an_incident_is_matched_by_its_symptom_and_failures_are_distinct(
    admin: httpx.Client, operator: httpx.Client, agent: Any, received: Any, eventually: Any, apply_findings: Any, findings: Any
) -> None:
    url, bodies = received
    subscribe(admin, url, matchers=[{"name": "symptom", "op": "=", "value": "S7"}], events=["remedy.refused"], format="slack")
    apply_findings(findings.finding("S7", started=datetime.now(UTC) - timedelta(hours=1), host=agent.host, pci=PCI))
    (incident,) = operator.get("/api/v1/incidents", params={"host": agent.host}).json()["items"]
    agent.answer = lambda command: {
        "command_id": command["command_id"],
        "remedy_id": command["remedy_id"],
        "state": "refused",
        "code": "precondition_failed",
        "message": "wallwatch-cni is not in the chain",
        "operations": [],
    }
    pace(operator, agent.host)  # for no incident: not sent
    eventually(lambda: operator.get("/api/v1/remedies", params={"host": agent.host, "state": "refused"}).json()["items"])
    pace(operator, agent.host, incident_id=incident["id"])
    (body,) = eventually(lambda: bodies)
    assert body["text"].startswith(
        f"*Remedy refused*: <http://wallwatch.example/incidents/{incident['id']}|pace-vf-unbinding on {agent.host}"
    )
    assert "wallwatch-cni is not in the chain" in body["attachments"][0]["text"]


def test_a_rollout_is_sent_wave_by_wave(admin: httpx.Client, operator: httpx.Client, agent: Any, received: Any, eventually: Any) -> None:
    url, bodies = received
    subscribe(admin, url, events=[event for event in ORDERS if event.startswith("rollout.")])
    subscribe(admin, url, events=["rollout.confirmed"], format="alertmanager")
    body = {
        "action": "pace-vf-unbinding",
        "params": {"interval_ms": 500},
        "targets": [{"host": agent.host, "pci": pci} for pci in (PCI, "0000:5e:00.0")],
        "growth": 1,
        "reason": "links were lost",
    }
    rollout = operator.post("/api/v1/rollouts", json=body).json()
    eventually(lambda: len(bodies) == 7, 30)
    native = [body for body in bodies if "type" in body]
    assert [(body["type"].removeprefix("rollout."), body["data"]["wave"]) for body in native] == [
        ("running", 0),
        ("wave_started", 0),
        ("wave_confirmed", 0),
        ("wave_started", 1),
        ("wave_confirmed", 1),
        ("confirmed", 1),
    ]
    assert native[-1]["data"]["confirmed"] == native[-1]["data"]["targets"] == 2
    jsonschema.validate(native[-1], operator.get("/api/v1/webhooks/schema").json(), format_checker=jsonschema.FormatChecker())
    (alert,) = next(body for body in bodies if "alerts" in body)["alerts"]
    assert (alert["status"], alert["labels"]["alertname"], alert["labels"]["rollout"]) == ("resolved", "WallwatchRollout", rollout["id"])


def test_a_webhook_without_events_gets_incidents_only(admin: httpx.Client) -> None:
    made = admin.post("/api/v1/webhooks", json={"name": "tickets", "url": "http://127.0.0.1:9/hook"}).json()
    assert made["events"] == ["incident.opened", "incident.updated", "incident.resolved"]
