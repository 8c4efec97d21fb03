"""Webhooks: signed, retried, logged."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import jsonschema
import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from wallwatch_backend.notify.deliveries.sender import NO_ANSWER
from wallwatch_testing.local_http import LocalHttp, QuietHandler


class Receiver:
    """A real HTTP server that records requests and answers as configured."""

    def __init__(self) -> None:
        self.status = 200
        self.first: list[int] = []  # statuses of the next answers, before `status`
        self.headers: dict[str, str] = {}
        self.answer = b""
        self.got: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(receiver.first.pop() if receiver.first else receiver.status)
                self.send_header("location", "/elsewhere")
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(receiver.answer)))
                self.end_headers()
                self.wfile.write(receiver.answer)

        self._server = LocalHttp(Handler)
        self.url = f"{self._server.url}/hook"

    def of(self, host: str) -> list[dict[str, Any]]:
        bodies = [json.loads(body) for _, body in self.got]
        return [body for body in bodies if body["data"].get("host") == host]

    def stop(self) -> None:
        self._server.stop()


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"incident_hold_s": 0, "webhook_retry_base_s": 0.2, "webhook_max_attempts": 4, "webhook_timeout_s": 30}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture
def webhook(admin: httpx.Client, receiver: Receiver) -> Iterator[dict[str, Any]]:
    made = admin.post("/api/v1/webhooks", json={"name": "tickets", "url": receiver.url})
    assert made.status_code == 201, made.text
    yield made.json()
    admin.delete(f"/api/v1/webhooks/{made.json()['id']}")


def deliveries(client: httpx.Client, webhook: dict[str, Any], **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/api/v1/webhooks/{webhook['id']}/deliveries", params=params).json()["items"]
    return found


def test_an_incident_is_sent_from_opening_to_resolution_with_valid_signatures(
    viewer: httpx.Client, receiver: Receiver, webhook: dict[str, Any], findings: Any, eventually: Any
) -> None:
    host, at = f"hook-{uuid4().hex[:6]}", datetime.now(UTC) - timedelta(seconds=120)
    findings.send(findings.finding(host=host, started=at))
    findings.send(findings.finding(host=host, started=at, after_s=15))  # fresher evidence alone is no news
    findings.send(findings.finding(host=host, started=at, after_s=30, severity="critical"))
    findings.send(findings.finding(host=host, started=at, after_s=60, state="cleared"))
    eventually(lambda: len(receiver.of(host)) == 4)
    assert [(body["type"], body["data"]["severity"], body["data"]["active"]) for body in receiver.of(host)] == [
        ("incident.opened", "warning", True),
        ("incident.updated", "critical", True),
        ("incident.updated", "critical", False),  # the symptom has cleared, and may recur
        ("incident.resolved", "critical", False),
    ]
    resolved = next(body for body in receiver.of(host) if body["type"] == "incident.resolved")
    assert resolved["data"]["state"] == "resolved"
    assert resolved["data"]["hypotheses"][0]["cause"] == "C5"
    for headers, body in receiver.got:
        assert Verifier(webhook["secret"]).verify(body, headers)["type"].startswith("incident.")
        with pytest.raises(WebhookVerificationError):
            Verifier(webhook["secret"]).verify(body.replace(b"incident", b"accident"), headers)
    schema = viewer.get("/api/v1/webhooks/schema").json()
    for body in receiver.of(host):
        jsonschema.validate(body, schema, format_checker=jsonschema.FormatChecker())
    log = eventually(lambda: (found := deliveries(viewer, webhook, state="delivered")) and len(found) == 4 and found)
    assert [attempt["status"] for delivery in log for attempt in delivery["attempts"]] == [200, 200, 200, 200]


def test_the_secret_is_shown_once_and_kept_encrypted(admin: httpx.Client, backend: Any, webhook: dict[str, Any]) -> None:
    assert webhook["secret"].startswith("whsec_")
    assert webhook["secret"] not in admin.get("/api/v1/webhooks").text
    with backend.connect() as connection:
        row = connection.execute("SELECT secret FROM webhook WHERE id = %s", [webhook["id"]]).fetchone()
    assert webhook["secret"].encode() not in bytes(row[0])


def test_a_failed_delivery_is_retried_under_the_same_id_until_it_arrives(
    admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any], eventually: Any
) -> None:
    receiver.first, receiver.status = [503, 503], 204
    assert admin.post(f"/api/v1/webhooks/{webhook['id']}/test").status_code == 202
    delivery = eventually(lambda: deliveries(admin, webhook, state="delivered"))[0]
    assert delivery["event"] == "webhook.test"
    assert [a["status"] for a in delivery["attempts"]] == [503, 503, 204]
    assert delivery["attempts"][0]["error"] == "the receiver answered 503"
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1


def test_a_delivery_is_given_up_and_can_be_tried_again_by_hand(
    admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any], eventually: Any
) -> None:
    receiver.status = 500
    admin.post(f"/api/v1/webhooks/{webhook['id']}/test")
    failed = eventually(lambda: deliveries(admin, webhook, state="failed"))[0]
    assert len(failed["attempts"]) == 4
    assert failed["next_attempt_at"] is None
    receiver.status = 200
    path = f"/api/v1/webhooks/{webhook['id']}/deliveries/{failed['id']}/retry"
    assert admin.post(path).json()["state"] == "pending"
    eventually(lambda: deliveries(admin, webhook, state="delivered"))
    assert admin.post(path).json()["code"] == "already_delivered"
    assert admin.post(path.replace(failed["id"], str(uuid4()))).status_code == 404


def test_a_secret_that_the_servers_key_does_not_open_is_an_attempt_with_its_reason(
    admin: httpx.Client, backend: Any, receiver: Receiver, webhook: dict[str, Any], eventually: Any
) -> None:
    with backend.connect() as connection:
        connection.execute("UPDATE webhook SET secret = %s WHERE id = %s", [b"of another key", webhook["id"]])
    admin.post(f"/api/v1/webhooks/{webhook['id']}/test")
    failed = eventually(lambda: deliveries(admin, webhook, state="failed"))[0]
    assert {attempt["error"] for attempt in failed["attempts"]} == {"the server's key does not open this webhook's secret: enter it again"}
    assert receiver.got == []


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_what_the_receiver_refuses_is_a_dead_letter_at_once(
    admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any], eventually: Any, status: int
) -> None:
    receiver.status, receiver.headers, receiver.answer = status, {"content-type": "application/json"}, b'{"message": "no such severity"}'
    admin.post(f"/api/v1/webhooks/{webhook['id']}/test")
    failed = eventually(lambda: deliveries(admin, webhook, state="failed"))[0]
    assert [attempt["status"] for attempt in failed["attempts"]] == [status]
    assert failed["attempts"][0]["error"].startswith("the receiver refused it, so it is not sent again")
    assert "no such severity" not in failed["attempts"][0]["error"]  # the receiver has a private address
    assert next(w for w in admin.get("/api/v1/webhooks").json()["items"] if w["id"] == webhook["id"])["disabled_reason"] is None
    receiver.status = 200  # it was mended: people send it again
    assert admin.post("/api/v1/webhooks/dead-letters/replay", json={"webhook_id": webhook["id"]}).json() == {"replayed": 1}
    assert eventually(lambda: deliveries(admin, webhook, state="delivered"))[0]["id"] == failed["id"]


@pytest.mark.parametrize("status", [408, 425, 429, 503])
def test_a_receiver_says_when_it_wants_the_next_attempt(
    admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any], eventually: Any, status: int
) -> None:
    receiver.first, receiver.headers = [status], {"retry-after": "2"}
    admin.post(f"/api/v1/webhooks/{webhook['id']}/test")
    attempts = eventually(lambda: deliveries(admin, webhook, state="delivered"))[0]["attempts"]
    assert [attempt["status"] for attempt in attempts] == [status, 200]
    first, second = (datetime.fromisoformat(attempt["at"]) for attempt in attempts)
    assert second - first >= timedelta(seconds=2)  # by itself it waits for 0.2 s


def test_a_delivery_that_a_clock_ahead_postponed_is_sent_all_the_same(
    operator: httpx.Client, backend: Any, receiver: Receiver, webhook: dict[str, Any], eventually: Any
) -> None:
    receiver.status = 500
    operator.post(f"/api/v1/webhooks/{webhook['id']}/test")
    failed = eventually(lambda: deliveries(operator, webhook, state="failed"))[0]
    receiver.status = 200
    with backend.connect() as connection:  # as a server does whose clock is a day ahead
        connection.execute(
            "UPDATE webhook_delivery SET state = 'pending', next_attempt_at = now() + interval '1 day' WHERE id = %s", [failed["id"]]
        )
    operator.post(f"/api/v1/webhooks/{webhook['id']}/test")  # wakes the worker
    assert eventually(lambda: len(found := deliveries(operator, webhook, state="delivered")) == 2 and found)


def test_a_refused_connection_is_an_attempt_with_its_reason(admin: httpx.Client, free_port: int, eventually: Any) -> None:
    webhook = admin.post("/api/v1/webhooks", json={"name": "down", "url": f"http://127.0.0.1:{free_port}/"}).json()
    admin.post(f"/api/v1/webhooks/{webhook['id']}/test")
    attempt = eventually(lambda: (found := deliveries(admin, webhook)) and found[0]["attempts"])[0]
    assert attempt["status"] is None
    assert attempt["error"] == NO_ANSWER  # a private address: its cause is in the log only


def test_a_redirect_is_not_followed(admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any], eventually: Any) -> None:
    receiver.status = 307
    admin.post(f"/api/v1/webhooks/{webhook['id']}/test")
    eventually(lambda: deliveries(admin, webhook, state="failed"))
    assert len(receiver.got) == 4


def test_a_receiver_that_answers_gone_is_disabled_until_enabled_again(
    admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any], findings: Any, eventually: Any
) -> None:
    receiver.status = 410
    findings.send(findings.finding(host=f"gone-{uuid4().hex[:6]}", started=datetime.now(UTC)))

    def shown() -> dict[str, Any]:
        return next(w for w in admin.get("/api/v1/webhooks").json()["items"] if w["id"] == webhook["id"])

    eventually(lambda: not shown()["enabled"])
    assert "410" in shown()["disabled_reason"]
    answer = admin.patch(f"/api/v1/webhooks/{webhook['id']}", json={"enabled": True}).json()
    assert (answer["enabled"], answer["disabled_reason"]) == (True, None)


def test_only_chosen_events_are_sent(admin: httpx.Client, receiver: Receiver, findings: Any, eventually: Any) -> None:
    made = admin.post("/api/v1/webhooks", json={"name": "ends", "url": receiver.url, "events": ["incident.resolved"]}).json()
    host, at = f"some-{uuid4().hex[:6]}", datetime.now(UTC) - timedelta(seconds=120)
    findings.send(findings.finding(host=host, started=at))
    findings.send(findings.finding(host=host, started=at, after_s=60, state="cleared"))
    eventually(lambda: receiver.of(host))
    assert [body["type"] for body in receiver.of(host)] == ["incident.resolved"]
    assert admin.delete(f"/api/v1/webhooks/{made['id']}").status_code == 204
    assert admin.get(f"/api/v1/webhooks/{made['id']}/deliveries").status_code == 404


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/x",
        "http://",
        "http://user:secret@127.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://[fe80::1]/",
        "http://0.0.0.0/",
        "http://224.0.0.1/",
        "http://127.0.0.1:99999/",
        "http://no-such-host.invalid/",
    ],
)
def test_an_address_that_must_not_be_called_is_refused(admin: httpx.Client, url: str) -> None:
    answer = admin.post("/api/v1/webhooks", json={"name": "bad", "url": url})
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] in ("bad_url", "invalid_input")


def test_changes_of_webhooks_are_audited_without_their_secret(admin: httpx.Client, webhook: dict[str, Any]) -> None:
    entry = admin.get("/api/v1/audit", params={"action": "webhook.create"}).json()["items"][0]
    assert entry["detail"]["webhook_id"] == webhook["id"]
    assert webhook["secret"] not in str(entry)


def test_the_secret_path_of_a_url_is_shown_to_admins_only_and_not_to_the_audit_log(
    admin: httpx.Client, operator: httpx.Client, viewer: httpx.Client, webhook: dict[str, Any], receiver: Receiver
) -> None:
    def seen_by(client: httpx.Client) -> str:
        found: str = next(each["url"] for each in client.get("/api/v1/webhooks").json()["items"] if each["id"] == webhook["id"])
        return found

    assert seen_by(admin) == receiver.url
    assert seen_by(operator) == seen_by(viewer) == receiver.url.removesuffix("hook") + "…"
    assert admin.patch(f"/api/v1/webhooks/{webhook['id']}", json={"url": receiver.url + "/again"}).status_code == 200
    entries = admin.get("/api/v1/audit", params={"action": "webhook."}).json()["items"]
    assert "/hook" not in str([entry["detail"] for entry in entries])


def test_an_operator_sends_again_and_tests_but_does_not_decide_where_data_goes(
    operator: httpx.Client, receiver: Receiver, webhook: dict[str, Any], eventually: Any
) -> None:
    path = f"/api/v1/webhooks/{webhook['id']}"
    elsewhere = {"name": "mine", "url": "http://127.0.0.1:9/mine"}
    refused = (operator.post("/api/v1/webhooks", json=elsewhere), operator.patch(path, json=elsewhere), operator.delete(path))
    assert [answer.status_code for answer in refused] == [403] * 3
    assert operator.post(f"{path}/test").status_code == 202
    sent = eventually(lambda: deliveries(operator, webhook, state="delivered"))[0]
    assert operator.post(f"{path}/deliveries/{sent['id']}/replay").status_code == 202


def fail_one(admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any], eventually: Any) -> dict[str, Any]:
    receiver.status = 500
    admin.post(f"/api/v1/webhooks/{webhook['id']}/test")
    found: dict[str, Any] = eventually(lambda: deliveries(admin, webhook, state="failed"))[0]
    receiver.status, receiver.got = 200, []
    return found


def test_a_replay_sends_the_same_body_under_the_same_id(
    admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any], eventually: Any
) -> None:
    admin.post(f"/api/v1/webhooks/{webhook['id']}/test")
    sent = eventually(lambda: deliveries(admin, webhook, state="delivered"))[0]
    path = f"/api/v1/webhooks/{webhook['id']}/deliveries/{sent['id']}"
    assert admin.post(f"{path}/replay").status_code == 202
    eventually(lambda: len(receiver.got) == 2)
    (first_headers, first_body), (second_headers, second_body) = receiver.got
    assert first_body == second_body
    assert first_headers["webhook-id"] == second_headers["webhook-id"] == sent["id"]
    eventually(lambda: len(admin.get(path).json()["attempts"]) == 2)
    assert admin.get(path).json()["body"] == first_body.decode()


def test_what_is_on_its_way_cannot_be_replayed(admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any]) -> None:
    receiver.status, receiver.headers = 503, {"retry-after": "60"}  # so that it is not given up before the replay
    sent = admin.post(f"/api/v1/webhooks/{webhook['id']}/test").json()
    answer = admin.post(f"/api/v1/webhooks/{webhook['id']}/deliveries/{sent['id']}/replay")
    assert (answer.status_code, answer.json()["code"]) == (409, "still_pending")


def test_dead_letters_are_listed_counted_and_replayed(
    admin: httpx.Client, viewer: httpx.Client, receiver: Receiver, webhook: dict[str, Any], eventually: Any
) -> None:
    failed = fail_one(admin, receiver, webhook, eventually)
    dead = next(d for d in viewer.get("/api/v1/webhooks/dead-letters").json()["items"] if d["id"] == failed["id"])
    assert (dead["webhook_id"], dead["webhook_name"], len(dead["attempts"])) == (webhook["id"], "tickets", 4)
    assert next(w for w in viewer.get("/api/v1/webhooks").json()["items"] if w["id"] == webhook["id"])["dead_letters"] == 1
    answer = admin.post("/api/v1/webhooks/dead-letters/replay", json={"webhook_id": webhook["id"]})
    assert (answer.status_code, answer.json()) == (202, {"replayed": 1})
    eventually(lambda: deliveries(admin, webhook, state="delivered"))
    assert receiver.got[0][0]["webhook-id"] == failed["id"]
    assert admin.post("/api/v1/webhooks/dead-letters/replay", json={"webhook_id": str(uuid4())}).status_code == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/webhooks/schema"),
        ("GET", "/webhooks/dead-letters"),
        ("POST", "/webhooks/dead-letters/replay"),
        ("GET", "/webhooks/{id}/deliveries/{id}"),
        ("POST", "/webhooks/{id}/deliveries/{id}/replay"),
    ],
)
def test_deliveries_need_a_signed_in_caller(anonymous: httpx.Client, viewer: httpx.Client, method: str, path: str) -> None:
    url = "/api/v1" + path.replace("{id}", str(uuid4()))
    assert anonymous.request(method, url, json={}).status_code == 401
    if method == "POST":
        assert viewer.request(method, url, json={}).status_code == 403


def test_the_end_of_an_incident_does_not_overtake_its_beginning(
    admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any], findings: Any, eventually: Any
) -> None:
    receiver.status, receiver.headers = 503, {"retry-after": "4"}  # twelve seconds until the first is given up and the second one sent
    host, at = f"order-{uuid4().hex[:6]}", datetime.now(UTC)
    findings.send(findings.finding(host=host, started=at))
    findings.send(findings.finding(host=host, started=at, after_s=10, severity="critical"))
    eventually(lambda: len(deliveries(admin, webhook, q=host)) == 2)
    eventually(lambda: len(receiver.of(host)) >= 2)
    assert {body["type"] for body in receiver.of(host)} == {"incident.opened"}
    receiver.status = 200
    eventually(lambda: receiver.of(host)[-1]["type"] == "incident.updated")
    assert [d["event"] for d in deliveries(admin, webhook, event="incident.opened", q=host)] == ["incident.opened"]
    assert deliveries(admin, webhook, q="no-such%host") == []


def test_a_silenced_incident_is_sent_when_the_silence_ends(
    admin: httpx.Client, receiver: Receiver, webhook: dict[str, Any], findings: Any, eventually: Any
) -> None:
    host, other = f"quiet-{uuid4().hex[:6]}", f"loud-{uuid4().hex[:6]}"
    now = datetime.now(UTC)
    silence = {
        "kind": "silence",
        "matchers": [{"name": "host", "op": "=", "value": host}],
        "starts_at": now.isoformat(),
        "ends_at": (now + timedelta(hours=1)).isoformat(),
        "reason": "known",
    }
    made = admin.post("/api/v1/silences", json=silence)
    assert made.status_code == 201, made.text
    findings.send(findings.finding(host=host, started=now))
    eventually(lambda: admin.get("/api/v1/incidents", params={"host": host, "state": "suppressed"}).json()["items"])
    findings.send(findings.finding(host=other, started=now))
    eventually(lambda: receiver.of(other))  # what came later has been sent
    assert receiver.of(host) == []
    admin.delete(f"/api/v1/silences/{made.json()['id']}")
    eventually(lambda: receiver.of(host))
    assert [(body["type"], body["data"]["state"]) for body in receiver.of(host)] == [("incident.opened", "open")]


def test_waits_are_filled_in_for_groups_and_can_be_changed(admin: httpx.Client, receiver: Receiver) -> None:
    def waits(webhook: dict[str, Any]) -> list[Any]:
        return [webhook["group_wait_s"], webhook["group_interval_s"], webhook["repeat_interval_s"]]

    new = {
        "name": "grouped",
        "url": receiver.url,
        "format": "alertmanager",
        "group_by": ["rack", "rack", "symptom"],
        "repeat_interval_s": 3600,
    }
    made = admin.post("/api/v1/webhooks", json=new).json()
    assert (made["group_by"], waits(made)) == (["rack", "symptom"], [30, 300, 3600])
    path = f"/api/v1/webhooks/{made['id']}"
    assert waits(admin.patch(path, json={"group_wait_s": 0}).json()) == [0, 300, 3600]
    assert waits(admin.patch(path, json={"repeat_interval_s": None}).json()) == [0, 300, None]
    matchers = [{"name": "host", "op": "=~", "value": "gpu.*"}]
    assert admin.patch(path, json={"matchers": matchers, "format": "slack"}).json()["matchers"] == matchers
    assert waits(admin.post("/api/v1/webhooks", json={"name": "single", "url": receiver.url}).json()) == [0, 0, None]


@pytest.mark.parametrize(
    ("bad", "where"),
    [
        ({"matchers": [{"name": "host", "op": "=~", "value": "("}]}, "matchers"),
        ({"matchers": [{"name": "colour", "value": "red"}]}, "matchers"),
        ({"group_by": ["colour"]}, "group_by"),
        ({"repeat_interval_s": 5}, "repeat_interval_s"),
        ({"format": "carrier pigeon"}, "format"),
    ],
)
def test_a_route_that_cannot_work_is_refused_with_the_place(
    admin: httpx.Client, receiver: Receiver, bad: dict[str, Any], where: str
) -> None:
    answer = admin.post("/api/v1/webhooks", json={"name": "bad", "url": receiver.url, **bad})
    assert answer.status_code == 422
    assert where in answer.json()["errors"][0]["location"]
