"""From a finding in Kafka to an incident, its timeline, and what people do with it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"incident_hold_s": 0}


NOW = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)  # an incident is over when its event time says so


def incidents(client: httpx.Client, **params: Any) -> list[dict[str, Any]]:
    return client.get("/api/v1/incidents", params=params).json()["items"]


def one(client: httpx.Client, host: str) -> dict[str, Any]:
    found = incidents(client, host=host)
    assert len(found) == 1, found
    return client.get(f"/api/v1/incidents/{found[0]['id']}").json()


def kinds(incident: dict[str, Any]) -> list[str]:
    return [entry["kind"] for entry in incident["timeline"]]


def test_a_finding_opens_an_incident_with_its_evidence_and_ranked_causes(viewer: httpx.Client, findings: Any, eventually: Any) -> None:
    message = findings.finding(host="open1", started=NOW)
    weak = {**message["hypotheses"][0], "cause": "C1", "posterior": 0.2}
    findings.send({**message, "hypotheses": [weak, *message["hypotheses"]]})
    eventually(lambda: incidents(viewer, host="open1"))
    incident = one(viewer, "open1")
    assert (incident["state"], incident["symptom"], incident["severity"], incident["active"]) == ("open", "S1", "warning", True)
    assert [h["cause"] for h in incident["hypotheses"]] == ["C5", "C1"]
    assert incident["top_cause"] == "C5"
    assert incident["evidence"][0]["from"].startswith(NOW.isoformat()[:19])
    assert incident["evidence"][0]["value"] == 0.4
    assert incident["remedies"][0]["params"] == {"max_idle_ms": 60000}
    assert kinds(incident) == ["opened"]


def test_the_same_message_again_changes_nothing(viewer: httpx.Client, findings: Any, eventually: Any) -> None:
    first = findings.finding(host="again", started=NOW, after_s=30)
    findings.send(first)
    findings.send(first)
    findings.send({**findings.finding(host="again", started=NOW, after_s=10), "severity": "critical"})  # older than what was applied
    findings.send(findings.finding(host="again-end", started=NOW))
    eventually(lambda: incidents(viewer, host="again-end") and incidents(viewer, host="again"))
    assert one(viewer, "again")["severity"] == "warning"
    assert kinds(one(viewer, "again")) == ["opened"]


def test_a_graver_finding_updates_its_incident(viewer: httpx.Client, findings: Any, eventually: Any) -> None:
    findings.send(findings.finding(host="grave", started=NOW))
    findings.send(findings.finding(host="grave", started=NOW, after_s=15))
    findings.send(findings.finding(host="grave", started=NOW, after_s=30, severity="critical"))
    eventually(lambda: [i for i in incidents(viewer, host="grave") if i["severity"] == "critical"])
    assert kinds(one(viewer, "grave")) == ["opened", "updated"]


def test_an_incident_is_resolved_once_its_symptom_has_not_recurred_for_the_hold_time(
    viewer: httpx.Client, findings: Any, eventually: Any
) -> None:
    findings.send(findings.finding(host="end", started=NOW))
    findings.send(findings.finding(host="end", started=NOW, after_s=60, state="cleared"))
    eventually(lambda: [i for i in incidents(viewer, host="end") if i["state"] == "resolved"])
    incident = one(viewer, "end")
    assert incident["active"] is False
    assert incident["evidence"], "the evidence stays for later"
    assert incident["cleared_at"] == incident["resolved_at"], "the hold time of this test is zero"
    assert incident["resolved_by"] == "wallwatch"
    assert sorted(kinds(incident)) == ["cleared", "opened", "resolved"]


def test_a_symptom_that_comes_back_within_ten_minutes_reopens_its_incident(viewer: httpx.Client, findings: Any, eventually: Any) -> None:
    findings.send(findings.finding(host="back", started=NOW))
    findings.send(findings.finding(host="back", started=NOW, after_s=60, state="cleared"))
    eventually(lambda: [i for i in incidents(viewer, host="back") if i["state"] == "resolved"])
    findings.send(findings.finding(host="back", started=NOW + timedelta(minutes=9)))
    incident = eventually(lambda: one(viewer, "back") if one(viewer, "back")["reopened"] else None)
    assert (incident["state"], incident["active"], incident["cleared_at"], incident["reopened"]) == ("reopened", True, None, 1)
    assert sorted(kinds(incident)) == ["cleared", "opened", "reopened", "resolved"]


def test_a_symptom_that_comes_back_later_is_a_new_incident(viewer: httpx.Client, findings: Any, eventually: Any) -> None:
    findings.send(findings.finding(host="later", started=NOW))
    findings.send(findings.finding(host="later", started=NOW, after_s=60, state="cleared"))
    eventually(lambda: [i for i in incidents(viewer, host="later") if i["state"] == "resolved"])
    findings.send(findings.finding(host="later", started=NOW + timedelta(minutes=12)))
    eventually(lambda: len(incidents(viewer, host="later")) == 2)
    assert [i["state"] for i in incidents(viewer, host="later")] == ["open", "resolved"]


def test_a_symptom_of_another_cause_is_another_incident(viewer: httpx.Client, findings: Any, eventually: Any) -> None:
    findings.send(findings.finding("S1", host="two", started=NOW))
    masks = {**findings.finding(started=NOW)["hypotheses"][0], "cause": "C6"}
    findings.send({**findings.finding("S6", host="two", started=NOW), "hypotheses": [masks]})
    eventually(lambda: len(incidents(viewer, host="two")) == 2)
    assert [i["symptom"] for i in incidents(viewer, host="two", symptom="S6")] == ["S6"]


def test_the_end_of_a_finding_that_never_began_is_ignored(viewer: httpx.Client, findings: Any, eventually: Any) -> None:
    findings.send(findings.finding(host="never", started=NOW, state="cleared"))
    findings.send(findings.finding(host="never-end", started=NOW), key="never")
    eventually(lambda: incidents(viewer, host="never-end"))
    assert incidents(viewer, host="never") == []


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b'{"finding_id": "', "malformed"),
        (b"\xff\xfe", "malformed"),
        (b"[]", "invalid"),
        (b"", "malformed"),
        (b'{"finding_id": "x"}', "invalid"),
    ],
)
def test_a_message_that_cannot_be_used_goes_to_the_dead_letters_and_the_next_is_taken(
    viewer: httpx.Client, findings: Any, eventually: Any, read_dead_letters: Any, value: bytes, reason: str
) -> None:
    marker = f"dead-{NOW.timestamp()}-{value.hex()}"
    findings.send(value, key=marker)
    letter = eventually(lambda: [d for d in read_dead_letters() if d["key"] == marker])[0]
    assert (letter["topic"], letter["reason"]) == ("wallwatch.findings", reason)
    assert letter["detail"]
    host = f"after-{len(value)}"
    findings.send(findings.finding(host=host, started=NOW))
    eventually(lambda: incidents(viewer, host=host))


def test_text_that_the_database_cannot_hold_is_a_dead_letter_too(
    viewer: httpx.Client, findings: Any, eventually: Any, read_dead_letters: Any
) -> None:
    message = findings.finding(host="nul", started=NOW)
    message["evidence"][0]["text"] = "a\x00b"
    findings.send(message, key="nul-key")
    letter = eventually(lambda: [d for d in read_dead_letters() if d["key"] == "nul-key"])[0]
    assert letter["reason"] in ("rejected", "invalid")
    assert incidents(viewer, host="nul") == []


def test_people_acknowledge_comment_and_resolve(operator: httpx.Client, findings: Any, eventually: Any) -> None:
    findings.send(findings.finding(host="people", started=NOW))
    eventually(lambda: incidents(operator, host="people"))
    path = f"/api/v1/incidents/{one(operator, 'people')['id']}"
    for _ in range(2):
        answer = operator.post(f"{path}/acknowledge")
        assert answer.json()["state"] == "acknowledged"
    assert answer.json()["acknowledged_by"] == "operator"
    assert operator.post(f"{path}/comments", json={"text": "  Looking at it. "}).status_code == 201
    assert operator.post(f"{path}/comments", json={"text": "   "}).status_code == 422
    assert operator.post(f"{path}/resolve").json()["state"] == "resolved"
    assert operator.post(f"{path}/acknowledge").json()["code"] == "already_resolved"
    incident = operator.get(path).json()
    assert [(e["kind"], e["actor"]) for e in incident["timeline"]] == [
        ("opened", "wallwatch"),
        ("acknowledged", "operator"),
        ("comment", "operator"),
        ("resolved", "operator"),
    ]
    assert incident["timeline"][2]["text"] == "Looking at it."


def test_a_symptom_that_goes_on_after_a_person_resolved_it_reopens_the_incident(
    operator: httpx.Client, findings: Any, eventually: Any
) -> None:
    findings.send(findings.finding(host="stubborn", started=NOW))
    eventually(lambda: incidents(operator, host="stubborn"))
    path = f"/api/v1/incidents/{one(operator, 'stubborn')['id']}"
    resolved = operator.post(f"{path}/resolve").json()
    # From when it was resolved, not from when this module was loaded: the tests before this one may have taken minutes.
    resolved_after_s = (datetime.fromisoformat(resolved["resolved_at"]) - NOW).total_seconds()
    findings.send(findings.finding(host="stubborn", started=NOW, after_s=resolved_after_s + 60))  # hysteresis may hold it up
    findings.send(findings.finding(host="stubborn", started=NOW, after_s=resolved_after_s + 600))
    incident = eventually(lambda: operator.get(path).json() if operator.get(path).json()["state"] == "reopened" else None)
    assert incident["reopened"] == 1


def test_incidents_come_in_pages_newest_first(viewer: httpx.Client) -> None:
    first = viewer.get("/api/v1/incidents", params={"limit": 3}).json()
    second = viewer.get("/api/v1/incidents", params={"limit": 3, "cursor": first["next_cursor"]}).json()
    opened = [incident["opened_at"] for incident in first["items"] + second["items"]]
    assert opened == sorted(opened, reverse=True)
    assert len({incident["id"] for incident in first["items"] + second["items"]}) == 6


def test_states_can_be_combined_in_the_filter(viewer: httpx.Client) -> None:
    found = incidents(viewer, state=["open", "acknowledged"])
    assert found
    assert {incident["state"] for incident in found} <= {"open", "acknowledged"}
