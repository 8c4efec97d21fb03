"""PagerDuty and Opsgenie: what they are sent, against what their published descriptions accept, over real HTTP.

The schemas state the facts of PagerDuty's `events-v2/openapiv3.json` and of Opsgenie's `definitions/alert.yaml`, with the limits of the
texts of both manuals; `additionalProperties` is closed, so that a misspelt field is found too.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID, uuid4

import httpx
import jsonschema
import pytest

from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats import opsgenie, pagerduty
from wallwatch_backend.notify.formats.alarm import alarm_of_notification, alarm_of_order
from wallwatch_backend.notify.formats.notification import Notification
from wallwatch_testing.local_http import LocalHttp, QuietHandler

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
KEY = "0123456789abcdef0123456789abcdef"

TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
PAGERDUTY: dict[str, Any] = {
    "type": "object",
    "required": ["routing_key", "event_action"],
    "additionalProperties": False,
    "properties": {
        "routing_key": {"type": "string", "minLength": 32, "maxLength": 32},
        "event_action": {"enum": ["trigger", "acknowledge", "resolve"]},
        "dedup_key": {**TEXT, "maxLength": 255},
        "client": TEXT,
        "client_url": {**TEXT, "format": "uri"},
        "links": {"type": "array", "items": {"type": "object", "required": ["href"], "properties": {"href": TEXT, "text": TEXT}}},
        "payload": {
            "type": "object",
            "required": ["summary", "severity", "source"],
            "additionalProperties": False,
            "properties": {
                "summary": {**TEXT, "maxLength": 1024},
                "source": TEXT,
                "severity": {"enum": ["critical", "error", "warning", "info"]},
                "timestamp": {"type": "string", "format": "date-time"},
                "component": TEXT,
                "group": TEXT,
                "class": TEXT,
                "custom_details": {"type": "object"},
            },
        },
    },
    "if": {"properties": {"event_action": {"const": "trigger"}}},
    "then": {"required": ["payload"]},
    "else": {"required": ["dedup_key"]},
}
ACTION: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"user": {**TEXT, "maxLength": 100}, "note": {**TEXT, "maxLength": 25_000}, "source": {**TEXT, "maxLength": 100}},
}
ALERT: dict[str, Any] = {
    "type": "object",
    "required": ["message"],
    "additionalProperties": False,
    "properties": {
        **ACTION["properties"],
        "message": {**TEXT, "maxLength": 130},
        "alias": {**TEXT, "maxLength": 512},
        "description": {**TEXT, "maxLength": 15_000},
        "entity": {**TEXT, "maxLength": 512},
        "priority": {"enum": ["P1", "P2", "P3", "P4", "P5"]},
        "tags": {"type": "array", "maxItems": 20, "items": {**TEXT, "maxLength": 50}},
        "details": {"type": "object", "additionalProperties": TEXT},
    },
}


class Pager:
    """A receiver that answers as both do, 202, and keeps what it was sent."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        pager = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                pager.got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(202)
                self.send_header("content-length", "0")
                self.end_headers()

        self._server = LocalHttp(Handler)
        self.url = self._server.url

    def stop(self) -> None:
        self._server.stop()


def check(document: Any, schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker()).validate(document)


def incident(number: int = 1, **more: Any) -> dict[str, Any]:
    given = {"id": str(UUID(int=number)), "host": "host01", "pci": "0000:3b:00.0", "scope": "rnic", "symptom": "S1", "severity": "critical"}
    return {**given, "state": "open", "title": "Re-offloading", "opened_at": "2026-11-21T11:58:00Z", "summary": "Flows leave.", **more}


def sent(*incidents: dict[str, Any], **more: Any) -> Notification:
    values: dict[str, Any] = {"event": "incident.opened", "group_labels": {}, "grouped": False, "public_url": "https://w.example", **more}
    return Notification(at=NOON, receiver="pager", webhook_id=UUID(int=7), incidents=incidents, **values)


def order(**more: Any) -> OrderEvent:
    values: dict[str, Any] = {"event": "remedy.failed", "outcome": "bad", "over": True, "kind": "remedy", "id": UUID(int=5), "labels": {}}
    values |= {"at": NOON, "began_at": NOON, "action": "Restart", "place": "host01", "text": "It failed.", "data": {}, "url": ""}
    return OrderEvent(**values | more)


@pytest.fixture
def pager() -> Iterator[Pager]:
    pager = Pager()
    yield pager
    pager.stop()


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"incident_hold_s": 0, "webhook_retry_base_s": 0.2}


def made(admin: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = admin.post("/api/v1/webhooks", json={"name": f"pager-{uuid4().hex[:6]}", "credential": KEY, **body})
    assert answer.status_code == 201, answer.text
    created: dict[str, Any] = answer.json()
    return created


def lead_an_incident_to_its_end(admin: httpx.Client, findings: Any, eventually: Any, host: str) -> None:
    at = datetime.now(UTC) - timedelta(seconds=120)
    findings.send(findings.finding(host=host, started=at, severity="critical"))
    [opened] = eventually(lambda: admin.get("/api/v1/incidents", params={"host": host}).json()["items"])
    assert admin.post(f"/api/v1/incidents/{opened['id']}/acknowledge").is_success
    findings.send(findings.finding(host=host, started=at, after_s=60, state="cleared"))


def test_pagerduty_is_triggered_acknowledged_and_resolved_under_one_key(
    admin: httpx.Client, pager: Pager, findings: Any, eventually: Any
) -> None:
    host = f"pd-{uuid4().hex[:6]}"
    url = f"{pager.url}/v2/enqueue"
    webhook = made(admin, format="pagerduty", url=url, matchers=[{"name": "host", "op": "=", "value": host}])
    lead_an_incident_to_its_end(admin, findings, eventually, host)
    eventually(lambda: any(body["event_action"] == "resolve" for _, _, body in pager.got))
    for _, _, body in pager.got:
        check(body, PAGERDUTY)
    actions = [body["event_action"] for _, _, body in pager.got]
    assert (actions[0], actions[-1]) == ("trigger", "resolve")
    assert "acknowledge" in actions
    assert len({body["dedup_key"] for _, _, body in pager.got}) == 1
    assert {body["routing_key"] for _, _, body in pager.got} == {KEY}
    assert pager.got[0][2]["payload"]["severity"] == "critical"
    log = admin.get(f"/api/v1/webhooks/{webhook['id']}/deliveries").json()["items"]
    stored = admin.get(f"/api/v1/webhooks/{webhook['id']}/deliveries/{log[-1]['id']}").json()["body"]
    assert KEY not in stored
    admin.delete(f"/api/v1/webhooks/{webhook['id']}")


def test_opsgenie_gets_each_action_at_its_own_address(admin: httpx.Client, pager: Pager, findings: Any, eventually: Any) -> None:
    host = f"og-{uuid4().hex[:6]}"
    url = f"{pager.url}/v2/alerts"
    webhook = made(admin, format="opsgenie", url=url, matchers=[{"name": "host", "op": "=", "value": host}])
    lead_an_incident_to_its_end(admin, findings, eventually, host)
    eventually(lambda: any("/close?" in path for path, _, _ in pager.got))
    path, _, first = pager.got[0]
    assert path == "/v2/alerts"
    check(first, ALERT)
    assert (first["priority"], first["entity"].split()[0]) == ("P1", host)
    for path, headers, body in pager.got:
        assert headers["authorization"] == f"GenieKey {KEY}"
        if path != "/v2/alerts":
            check(body, ACTION)
            assert unquote(urlsplit(path).path.split("/")[3]) == first["alias"]
            assert parse_qs(urlsplit(path).query) == {"identifierType": ["alias"]}
    assert "acknowledge" in {urlsplit(path).path.rpartition("/")[2] for path, _, _ in pager.got}
    admin.delete(f"/api/v1/webhooks/{webhook['id']}")


@pytest.mark.parametrize("format", ["pagerduty", "opsgenie"])
def test_a_pager_without_its_key_is_refused_and_the_key_is_never_returned(admin: httpx.Client, pager: Pager, format: str) -> None:
    refused = admin.post("/api/v1/webhooks", json={"name": "pager", "format": format, "url": pager.url})
    assert (refused.status_code, refused.json()["code"]) == (422, "unfit_receiver")
    webhook = made(admin, format=format, url=pager.url)
    assert webhook["credential_fingerprint"] == "3eb1bd43"
    assert KEY not in admin.get("/api/v1/webhooks").text
    assert KEY not in admin.get("/api/v1/audit").text
    path = f"/api/v1/webhooks/{webhook['id']}"
    changed = admin.patch(path, json={"credential": "another-key-of-this-service"}).json()
    assert changed["credential_fingerprint"] not in (None, "3eb1bd43")
    assert admin.patch(path, json={"name": "renamed"}).json()["credential_fingerprint"] == changed["credential_fingerprint"]
    assert admin.patch(path, json={"format": "native"}).json()["credential_fingerprint"] is None
    assert admin.patch(path, json={"format": format}).json()["code"] == "unfit_receiver"
    admin.delete(path)


def test_the_key_is_stored_encrypted(admin: httpx.Client, backend: Any, pager: Pager) -> None:
    webhook = made(admin, format="pagerduty", url=pager.url)
    with backend.connect() as connection:
        row = connection.execute("SELECT credential FROM webhook WHERE id = %s", [webhook["id"]]).fetchone()
    assert KEY.encode() not in bytes(row[0])
    admin.delete(f"/api/v1/webhooks/{webhook['id']}")


def pagerduty_document(body: str) -> dict[str, Any]:
    document: dict[str, Any] = {**json.loads(body), "routing_key": KEY}
    check(document, PAGERDUTY)
    return document


def opsgenie_document(body: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(body)
    check(document["fields"], ALERT if document["action"] == "create" else ACTION)
    return document


def test_a_group_is_one_alarm_that_ends_with_its_last_incident() -> None:
    group: dict[str, Any] = {"event": "incident.group", "grouped": True, "group_labels": {"rack": "r1"}}
    both = [incident(n, severity="warning" if n == 1 else "critical") for n in (1, 2)]
    first = pagerduty_document(pagerduty.body(alarm_of_notification(sent(*both, **group))))
    assert (first["event_action"], first["payload"]["severity"], first["payload"]["source"]) == ("trigger", "critical", "rack r1")
    less = [both[0], {**both[1], "state": "resolved"}]
    assert pagerduty_document(pagerduty.body(alarm_of_notification(sent(*less, **group))))["payload"]["severity"] == "warning"
    over = [{**each, "state": "resolved"} for each in both]
    end = pagerduty_document(pagerduty.body(alarm_of_notification(sent(*over, **group))))
    assert (end["event_action"], end["dedup_key"]) == ("resolve", first["dedup_key"])
    assert opsgenie_document(opsgenie.body(alarm_of_notification(sent(*over, **group))))["action"] == "close"


def test_texts_are_cut_to_what_pagers_take() -> None:
    long = incident(title="t" * 3000, summary="s" * 30_000, top_cause="c" * 3000)
    pagerduty_document(pagerduty.body(alarm_of_notification(sent(long))))
    opsgenie_document(opsgenie.body(alarm_of_notification(sent(long))))
    many = sent(*(incident(n, title="t" * 300) for n in range(90)), event="incident.group", grouped=True, group_labels={"rack": "r" * 600})
    pagerduty_document(pagerduty.body(alarm_of_notification(many)))
    opsgenie_document(opsgenie.body(alarm_of_notification(many)))


def test_without_a_public_address_there_is_no_empty_link() -> None:
    document = pagerduty_document(pagerduty.body(alarm_of_notification(sent(incident(), public_url=None))))
    assert not {"client_url", "links"} & set(document)
    assert "link" not in opsgenie_document(opsgenie.body(alarm_of_notification(sent(incident(), public_url=None))))["fields"]["details"]


@pytest.mark.parametrize(
    ("event", "action"),
    [
        (order(), "trigger"),  # it is over, but somebody has to look
        (order(event="remedy.confirmed", outcome="good"), "resolve"),
        (order(event="remedy.running", outcome="waiting", over=False), "trigger"),
        (order(event="agent.lost", kind="agent", id="host01", over=False), "trigger"),
        (order(event="agent.connected", kind="agent", id="host01", outcome="good"), "resolve"),
    ],
)
def test_remedies_and_conditions_open_and_close_alarms(event: OrderEvent, action: str) -> None:
    assert pagerduty_document(pagerduty.body(alarm_of_order(event)))["event_action"] == action
    assert opsgenie_document(opsgenie.body(alarm_of_order(event)))["action"] == ("create" if action == "trigger" else "close")
