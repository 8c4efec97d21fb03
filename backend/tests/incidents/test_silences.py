"""Silences and maintenance windows: what they suppress, from when to when, and who created them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

API = "/api/v1/silences"


def soon(**delta: float) -> str:
    return (datetime.now(UTC) + timedelta(**delta)).isoformat()


@pytest.fixture
def host() -> str:
    """A host that no other test has."""
    return f"quiet-{uuid4().hex[:8]}"


@pytest.fixture
def open_on(operator: httpx.Client, findings: Any, apply_findings: Any) -> Any:
    """A function that opens an incident on a host and returns its path."""

    def make(host: str, symptom: str = "S1", **more: Any) -> str:
        apply_findings(findings.finding(symptom, host=host, started=datetime.now(UTC), **more))
        return f"/api/v1/incidents/{operator.get('/api/v1/incidents', params={'host': host}).json()['items'][0]['id']}"

    return make


def of_host(host: str, **more: Any) -> dict[str, Any]:
    return {"matchers": [{"name": "host", "op": "=", "value": host}], "ends_at": soon(hours=1), "reason": "Being repaired", **more}


def test_a_silence_suppresses_what_is_open_and_what_comes(operator: httpx.Client, host: str, open_on: Any) -> None:
    path = open_on(host)
    made = operator.post(API, json=of_host(host))
    assert made.status_code == 201, made.text
    silence = made.json()
    assert (silence["state"], silence["incidents"], silence["created_by"], silence["kind"]) == ("active", 1, "operator", "silence")
    incident = operator.get(path).json()
    assert (incident["state"], incident["suppressed_by"]) == ("suppressed", silence["id"])
    assert incident["timeline"][-1]["kind"] == "silenced"
    assert "Being repaired" in incident["timeline"][-1]["text"]
    later = open_on(f"{host}-other")
    assert operator.get(later).json()["state"] == "open"


def test_an_incident_that_opens_under_a_silence_is_suppressed_from_the_start(operator: httpx.Client, host: str, open_on: Any) -> None:
    silence = operator.post(API, json=of_host(host, kind="maintenance")).json()
    path = open_on(host)
    assert operator.get(path).json()["state"] == "suppressed"
    assert operator.delete(f"{API}/{silence['id']}").status_code == 204
    incident = operator.get(path).json()
    assert (incident["state"], incident["suppressed_by"]) == ("open", None)
    assert [e["kind"] for e in incident["timeline"]] == ["opened", "silenced", "unsilenced"]
    ended = operator.get(f"{API}/{silence['id']}").json()
    assert (ended["state"], ended["incidents"]) == ("expired", 0)


def test_start_and_end_take_effect_without_any_finding(operator: httpx.Client, host: str, open_on: Any, eventually: Any) -> None:
    path = open_on(host)
    operator.post(f"{path}/acknowledge")
    silence = operator.post(API, json=of_host(host, starts_at=soon(seconds=2), ends_at=soon(seconds=6))).json()
    assert silence["state"] == "pending"
    assert operator.get(path).json()["state"] == "acknowledged"
    eventually(lambda: operator.get(path).json()["state"] == "suppressed")
    eventually(lambda: operator.get(path).json()["state"] == "acknowledged")
    assert operator.get(f"{API}/{silence['id']}").json()["state"] == "expired"


def test_an_incident_is_suppressed_only_when_each_of_its_active_findings_is(
    operator: httpx.Client, host: str, open_on: Any, findings: Any, apply_findings: Any
) -> None:
    path = open_on(host)
    both = [{"name": "host", "value": host}, {"name": "symptom", "op": "=~", "value": "S[15]"}]
    operator.post(API, json=of_host(host, matchers=[{"name": "host", "value": host}, {"name": "symptom", "value": "S1"}]))
    assert operator.get(path).json()["state"] == "suppressed"
    s5 = findings.finding("S5", host=host, started=datetime.now(UTC))
    apply_findings(s5)
    assert operator.get(path).json()["state"] == "open", "one of its findings is not silenced"
    second = operator.post(API, json=of_host(host, matchers=both)).json()
    assert operator.get(path).json()["state"] == "suppressed"
    narrower = [{"name": "host", "value": host}, {"name": "symptom", "op": "!~", "value": "S5|S6"}]
    operator.patch(f"{API}/{second['id']}", json={"matchers": narrower})
    assert operator.get(path).json()["state"] == "open"


def test_a_silence_is_edited_and_expired_with_an_etag_and_an_audit(operator: httpx.Client, admin: httpx.Client, host: str) -> None:
    made = operator.post(API, json=of_host(host))
    path, etag = f"{API}/{made.json()['id']}", made.headers["etag"]
    changed = operator.patch(path, json={"reason": "Longer", "ends_at": soon(hours=3)}, headers={"If-Match": etag})
    assert (changed.json()["reason"], changed.json()["updated_by"]) == ("Longer", "operator")
    assert operator.patch(path, json={"reason": "x"}, headers={"If-Match": etag}).status_code == 412
    assert operator.delete(path, headers={"If-Match": etag}).status_code == 412
    ended = operator.patch(path, json={"ends_at": "2020-01-01T00:00:00Z"}).json()
    assert ended["state"] == "expired"
    assert operator.patch(path, json={"reason": "x"}).json()["code"] == "silence_expired"
    assert operator.delete(path).status_code == 204, "ending it again changes nothing"
    pending = operator.post(API, json=of_host(host, starts_at=soon(minutes=30))).json()
    operator.delete(f"{API}/{pending['id']}")
    assert operator.get(f"{API}/{pending['id']}").status_code == 404
    actions = [e["action"] for e in admin.get("/api/v1/audit", params={"action": "silence.", "limit": 5}).json()["items"]]
    assert actions == ["silence.expire", "silence.create", "silence.update", "silence.update", "silence.create"]


def test_the_list_distinguishes_pending_active_and_expired(operator: httpx.Client, host: str) -> None:
    active, pending = (operator.post(API, json=of_host(host, starts_at=at)).json() for at in (None, soon(minutes=30)))

    def ids(**params: Any) -> set[str]:
        found, cursor = set(), None
        while True:
            page = operator.get(API, params={**params, "limit": 2, **({"cursor": cursor} if cursor else {})}).json()
            found |= {s["id"] for s in page["items"]}
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    assert active["id"] in ids(state="active")
    assert pending["id"] in ids(state="pending")
    assert {active["id"], pending["id"]} & ids(state="expired") == set()
    assert {active["id"], pending["id"]} <= ids(state=["active", "pending"]) <= ids()


def test_a_preview_returns_what_matches_and_changes_nothing(operator: httpx.Client, host: str, open_on: Any) -> None:
    path = open_on(host)
    preview = operator.post(f"{API}/preview", json={"matchers": [{"name": "host", "value": host}]}).json()
    assert (preview["incidents"], [s["host"] for s in preview["sample"]]) == (1, [host])
    assert operator.get(path).json()["state"] == "open"
    assert operator.post(f"{API}/preview", json={"matchers": [{"name": "host", "value": "nobody"}]}).json()["incidents"] == 0


@pytest.mark.parametrize(
    "body",
    [
        {"matchers": []},
        {"matchers": [{"name": "color", "value": "x"}]},
        {"matchers": [{"name": "host", "op": "=~", "value": "("}]},
        {"matchers": [{"name": "host", "op": "=~", "value": "(a*)*\\1"}]},
        {"matchers": [{"name": "host", "op": "==", "value": "x"}]},
        {"ends_at": "2020-01-01T00:00:00Z"},
        {"starts_at": "2090-01-02T00:00:00Z", "ends_at": "2090-01-01T00:00:00Z"},
        {"ends_at": "tomorrow"},
        {"reason": "  "},
        {"kind": "holiday"},
    ],
)
def test_a_silence_that_makes_no_sense_is_refused(operator: httpx.Client, body: dict[str, Any]) -> None:
    answer = operator.post(API, json=of_host("nobody", **body))
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"]


def test_a_bulk_reopening_under_a_silence_is_suppressed_again(operator: httpx.Client, host: str, open_on: Any, eventually: Any) -> None:
    path = open_on(host)
    operator.post(f"{path}/resolve")
    operator.post(API, json=of_host(host))
    operator.post("/api/v1/incidents/bulk", json={"ids": [path.rsplit("/", 1)[1]], "action": "reopen"})
    eventually(lambda: operator.get(path).json()["state"] == "suppressed")
