"""A campaign's life in the API, with the store's functions in the place of a runner."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from wallwatch.store import lab as store
from wallwatch.store.lab import CampaignState
from wallwatch_testing.lab_report import BRUTE_FORCE, FAILING, report
from wallwatch_testing.lab_runner import CAMPAIGNS, Runner, finished, start


def test_nobody_but_a_signed_in_operator_starts_a_campaign(anonymous: httpx.Client, viewer: httpx.Client, device: str) -> None:
    body = {"device": device}
    assert anonymous.post(CAMPAIGNS, json=body).json()["code"] == "not_signed_in"
    assert viewer.post(CAMPAIGNS, json=body).json()["code"] == "forbidden"
    assert viewer.post(f"{CAMPAIGNS}/{uuid4()}/stop", json={}).json()["code"] == "forbidden"
    assert viewer.post("/api/v1/lab/stop", json={}).json()["code"] == "forbidden"
    assert anonymous.get("/api/v1/lab/devices").json()["code"] == "not_signed_in"


def test_a_device_is_shown_with_what_the_catalogue_knows_of_its_parameters(viewer: httpx.Client, device: str) -> None:
    shown = next(each for each in viewer.get("/api/v1/lab/devices").json()["items"] if each["name"] == device)
    assert (shown["available"], shown["problem"], shown["brute_force_tests"]) == (True, None, str(BRUTE_FORCE))
    masks = shown["parameters"][0]
    assert (masks["dimension"], masks["causes"], masks["low"], masks["high"]) == ("masks", ["C6"], 1, 64)
    assert "command" not in json.dumps(shown), "commands are the runner's own"


def test_the_catalogue_of_the_lab_has_dimensions_and_causes(viewer: httpx.Client) -> None:
    catalogue = viewer.get("/api/v1/lab/catalogue").json()
    assert {"cause": "C8", "dimensions": ["contexts", "tunnel"]} in catalogue["causes"]
    assert next(d for d in catalogue["dimensions"] if d["id"] == "masks")["safe"] == {"low": 1, "high": 100}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"device": "no such device"}, 422, "lab_device_unknown"),
        ({"parameters": ["colour"]}, 422, "lab_parameter_unknown"),
        ({"target": "S1"}, 422, "lab_parameter_unknown"),
        ({"incident_id": str(uuid4())}, 404, "not_found"),
        ({"budget": 0}, 422, "invalid_input"),
        ({"strategy": "luck"}, 422, "invalid_input"),
        ({"parameters": []}, 422, "invalid_input"),
    ],
)
def test_a_campaign_that_cannot_run_is_refused(operator: httpx.Client, device: str, body: dict[str, Any], status: int, code: str) -> None:
    answer = operator.post(CAMPAIGNS, json={"device": device, **body})
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_device_that_does_not_answer_or_that_nobody_offers_is_not_tested(operator: httpx.Client, runner: Runner, backend: Any) -> None:
    broken = runner.offer(f"dut-{uuid4().hex[:8]}", None, problem="fleetsim: no such model")
    answer = operator.post(CAMPAIGNS, json={"device": broken}).json()
    assert (answer["code"], answer["detail"]) == ("lab_device_unusable", "fleetsim: no such model")
    gone = runner.offer(f"dut-{uuid4().hex[:8]}")
    with backend.connect() as connection:
        connection.execute("UPDATE lab_device SET seen_at = now() - interval '2 min' WHERE name = %s", [gone])
    assert "No runner has offered it" in operator.post(CAMPAIGNS, json={"device": gone}).json()["detail"]


def test_a_report_of_an_earlier_version_counts_only_what_the_campaign_varied(
    operator: httpx.Client, viewer: httpx.Client, runner: Runner, device: str
) -> None:
    campaign = start(operator, device, parameters=["egress_masks"])
    claimed = runner.claim(device)
    assert claimed is not None
    earlier = {name: value for name, value in report(strength=4).items() if name not in ("varied", "fixed")}
    assert runner.end(claimed.id, CampaignState.finished, earlier)
    shown = viewer.get(f"{CAMPAIGNS}/{campaign['id']}").json()
    assert shown["brute_force_tests"] == "5"
    assert (shown["report"]["varied"], shown["report"]["strength"]) == (["egress_masks"], 1)


def test_a_campaign_is_run_shown_and_reported(operator: httpx.Client, viewer: httpx.Client, runner: Runner, device: str) -> None:
    campaign = start(operator, device, budget=400, parameters=["egress_masks", "verb"], seed=7)
    path = f"{CAMPAIGNS}/{campaign['id']}"
    assert (campaign["state"], campaign["brute_force_tests"], campaign["report"]) == ("queued", "15", None)
    claimed = runner.claim(device)
    assert claimed is not None
    assert (str(claimed.id), claimed.resumed, claimed.options["seed"]) == (campaign["id"], False, 7)
    head = {"kind": "campaign", "version": 1}
    test = {"kind": "test", "n": 1, "phase": "baseline", "config": FAILING, "status": "ok", "symptoms": [], "metrics": {"bw_gbps": 98.0}}
    bad = {**test, "n": 2, "phase": "discover", "symptoms": ["S6"], "seconds": 0.5, "attempt": 2}
    reset = {"kind": "reset", "n": 3, "phase": "discover", "status": "ok"}
    runner.write(claimed.id, list(enumerate([head, test, bad, reset])), tests=3, resets=1, bad=1, phase="discover", seconds=1.5)
    running = viewer.get(path).json()
    assert (running["state"], running["progress"]["tests"], running["progress"]["bad"]) == ("running", 3, 1)
    assert running["progress"]["most_seconds_left"] == pytest.approx(397 * 0.5, abs=1)
    assert (running["silent"], running["stopping"]) == (False, False)

    first = viewer.get(f"{path}/tests", params={"limit": 2}).json()
    assert [(t["kind"], t["n"], t["symptoms"]) for t in first["items"]] == [("test", 1, []), ("test", 2, ["S6"])]
    rest = viewer.get(f"{path}/tests", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [(t["kind"], t["n"]) for t in rest["items"]] == [("reset", 3)]
    assert rest["next_cursor"] is None
    assert [t["n"] for t in viewer.get(f"{path}/tests", params={"bad": True}).json()["items"]] == [2]
    assert [json.loads(line) for line in viewer.get(f"{path}/journal").text.splitlines()] == [head, test, bad, reset]
    assert viewer.get(f"{path}/report").json()["code"] == "lab_no_report"

    varied = report(varied=["egress_masks", "verb"], strength=2, brute_force={"levels": 5, "tests": "15"})
    assert runner.end(claimed.id, CampaignState.finished, varied)
    done = viewer.get(path).json()
    assert (done["state"], done["causes"], done["complete"]) == ("finished", 1, True)
    assert done["brute_force_tests"] == "15", "what was not varied is not counted as saved"
    assert done["report"]["varied"] == ["egress_masks", "verb"]
    found = done["report"]["causes"][0]
    assert found["text"] == "S6 appears when egress_masks is at least 24."
    assert found["recognised"]["cause"] == "C6"
    assert found["thresholds"][0]["unit"] == "masks"
    assert found["policy"] is None
    assert found["no_policy"].startswith("A policy speaks of events, not of measured values such as egress_masks.")
    assert '"egress_masks": 24' in found["reproducer"]
    assert viewer.get(f"{path}/report").json() == varied
    listed = viewer.get(CAMPAIGNS, params={"device": device}).json()["items"]
    assert [(each["id"], each["causes"]) for each in listed] == [(campaign["id"], 1)]


def test_the_same_request_sent_again_starts_one_campaign(operator: httpx.Client, device: str) -> None:
    key = {"Idempotency-Key": f"key-{uuid4().hex}"}
    ids = {operator.post(CAMPAIGNS, json={"device": device}, headers=key).json()["id"] for _ in range(2)}
    assert len(ids) == 1


def test_two_runners_never_hold_one_campaign_nor_one_device(operator: httpx.Client, backend: Any, runner: Runner, device: str) -> None:
    first, second = start(operator, device), start(operator, device)
    with psycopg.connect(backend.dsn, autocommit=True) as connection:
        other = Runner(connection)
        claimed = runner.claim(device)
        assert claimed is not None
        assert str(claimed.id) == first["id"]
        assert other.claim(device) is None, "the device is in use"
        assert other.write(claimed.id, []) is None
        assert not other.end(claimed.id, CampaignState.failed)
        store.release(runner.connection, runner.name, claimed.id)
        resumed = other.claim(device)
        assert resumed is not None
        assert (resumed.id, resumed.resumed) == (claimed.id, True)
        assert runner.write(claimed.id, []) is None, "the first runner has lost it"
        assert other.end(claimed.id, CampaignState.finished, report())
        following = runner.claim(device)
        assert following is not None
        assert str(following.id) == second["id"]


def test_a_runner_that_has_died_loses_its_campaign_and_the_journal_is_kept(
    operator: httpx.Client, viewer: httpx.Client, backend: Any, runner: Runner, device: str
) -> None:
    campaign = start(operator, device)
    claimed = runner.claim(device)
    assert claimed is not None
    runner.write(claimed.id, [(0, {"kind": "campaign"}), (1, {"kind": "test", "n": 1})], tests=1)
    runner.write(claimed.id, [(1, {"kind": "test", "n": 1}), (2, {"kind": "test", "n": 2})], tests=2)  # sent again: kept once
    with backend.connect() as connection:
        connection.execute("UPDATE lab_campaign SET heartbeat_at = now() - interval '40 s' WHERE id = %s", [campaign["id"]])
    assert viewer.get(f"{CAMPAIGNS}/{campaign['id']}").json()["silent"] is True
    with psycopg.connect(backend.dsn, autocommit=True) as connection:
        taken = Runner(connection).claim(device)
        assert taken is not None
        assert taken.resumed
        assert [line.get("n") for line in store.journal(connection, taken.id)] == [None, 1, 2]


def test_a_campaign_that_waits_is_stopped_at_once_and_one_that_runs_by_its_runner(
    operator: httpx.Client, runner: Runner, device: str
) -> None:
    running, waiting = start(operator, device), start(operator, device)
    claimed = runner.claim(device)
    assert claimed is not None
    stopped = operator.post(f"{CAMPAIGNS}/{waiting['id']}/stop", json={"reason": "wrong device"}).json()
    assert (stopped["state"], stopped["message"]) == ("stopped", "Stopped by operator before it began: wrong device")
    asked = operator.post(f"{CAMPAIGNS}/{running['id']}/stop", json={}).json()
    assert (asked["state"], asked["stopping"]) == ("running", True)
    assert runner.write(claimed.id, []) == store.Held(stop="Stopped by operator.")
    runner.end(claimed.id, CampaignState.stopped, report(complete=False, stopped="stopped"), "Stopped by operator.")
    assert operator.post(f"{CAMPAIGNS}/{running['id']}/stop", json={}).json()["code"] == "lab_campaign_over"


def test_the_emergency_stop_stops_every_campaign(operator: httpx.Client, runner: Runner, device: str) -> None:
    campaign = start(operator, device)
    assert operator.post("/api/v1/lab/stop", json={"reason": "smoke"}).json()["stopped"] >= 1
    assert operator.get(f"{CAMPAIGNS}/{campaign['id']}").json()["state"] == "stopped"
    assert runner.claim(device) is None


def test_a_cause_about_an_order_of_events_comes_with_a_policy_that_can_be_saved(
    operator: httpx.Client, runner: Runner, device: str
) -> None:
    order = {"parameter": "teardown", "op": "before", "value": ["release_vfs", "stop_traffic"]}
    found = report()
    found["causes"] = [{**found["causes"][0], "symptom": "S7", "conditions": [order], "thresholds": []}]
    cause = finished(operator, runner, device, found)["report"]["causes"][0]
    assert (cause["no_policy"], cause["policy"]["symptoms"], cause["policy"]["causes"]) == (None, ["S7"], ["C7"])
    policy = {**cause["policy"], "id": f"from-lab-{uuid4().hex[:8]}"}
    saved = operator.post("/api/v1/policies", json=policy)
    assert (saved.status_code, saved.json()["lifecycle"]) == (201, "draft"), saved.text


def test_a_report_of_another_form_is_named_and_the_rest_is_shown(operator: httpx.Client, runner: Runner, device: str) -> None:
    campaign = finished(operator, runner, device, report(causes=[{"id": "one"}]))
    assert campaign["report"] is None
    assert campaign["report_problem"].startswith("The report cannot be read: causes.0.id")
    answer = operator.post(f"{CAMPAIGNS}/{campaign['id']}/profile", json={})
    assert (answer.status_code, answer.json()["code"]) == (409, "lab_no_report")


def test_measured_limits_become_a_candidate_of_the_profile_and_can_be_promoted(operator: httpx.Client, runner: Runner, device: str) -> None:
    campaign = finished(operator, runner, device)
    answer = operator.post(f"{CAMPAIGNS}/{campaign['id']}/profile", json={})
    assert answer.status_code == 201, answer.text
    written = answer.json()
    assert (written["model"], written["limits"]) == ("CX-6", {"egress_masks": 23.0})
    version = operator.get(f"/api/v1/profiles/CX-6/versions/{written['number']}").json()
    assert (version["state"], version["source"], version["limits"]) == ("candidate", "lab", {"egress_masks": 23.0})
    promoted = operator.post(f"/api/v1/profiles/CX-6/versions/{written['number']}/promote", json={"reason": "measured"})
    assert promoted.status_code == 200, promoted.text
    limits = {limit["wall"]: (limit["value"], limit["basis"]) for limit in promoted.json()["limits"]}
    assert limits["egress_masks"] == (23.0, "calibrated")
    operator.post("/api/v1/profiles/CX-6/rollback", json={"reason": "the end of the test"})


def test_a_campaign_without_limits_or_a_model_changes_no_profile(operator: httpx.Client, runner: Runner, device: str) -> None:
    nothing = finished(operator, runner, device, report(causes=[]))
    assert operator.post(f"{CAMPAIGNS}/{nothing['id']}/profile", json={}).json()["code"] == "lab_nothing_measured"
    plain = runner.offer(f"dut-{uuid4().hex[:8]}")
    campaign = finished(operator, runner, plain)
    assert operator.post(f"{CAMPAIGNS}/{campaign['id']}/profile", json={}).json()["code"] == "invalid_input"
    assert operator.post(f"{CAMPAIGNS}/{campaign['id']}/profile", json={"model": "CX-99"}).json()["code"] == "not_found"
    assert operator.post(f"{CAMPAIGNS}/{campaign['id']}/profile", json={"model": "CX-6", "causes": [9]}).json()["code"] == "not_found"


def test_what_was_found_is_attached_to_an_incident_and_audited(
    operator: httpx.Client, admin: httpx.Client, runner: Runner, device: str, findings: Any, apply_findings: Callable[..., None]
) -> None:
    apply_findings(findings.finding("S6", started=datetime.now(UTC), host=f"host-{uuid4().hex[:8]}"))
    incident = operator.get("/api/v1/incidents", params={"symptom": "S6"}).json()["items"][0]
    campaign = finished(operator, runner, device, incident_id=incident["id"])
    answer = operator.post(f"{CAMPAIGNS}/{campaign['id']}/attach", json={"causes": [1]})
    assert answer.status_code == 201, answer.text
    text = answer.json()["text"]
    assert "S6 appears when egress_masks is at least 24 (this is C6, confidence 99%)." in text
    timeline = operator.get(f"/api/v1/incidents/{incident['id']}").json()["timeline"]
    entries = [entry for entry in timeline if entry["kind"] == "lab"]
    assert entries[0]["text"] == f"Started a lab campaign on {device}."
    assert entries[-1]["data"] == {"campaign_id": campaign["id"]}
    unattached = finished(operator, runner, device)
    assert operator.post(f"{CAMPAIGNS}/{unattached['id']}/attach", json={}).json()["code"] == "invalid_input"
    audited = [event["action"] for event in admin.get("/api/v1/audit", params={"limit": 100}).json()["items"]]
    assert {"lab.run", "lab.attach"} <= set(audited)


def test_webhooks_and_the_incident_learn_of_the_end(
    operator: httpx.Client, admin: httpx.Client, runner: Runner, device: str, eventually: Any
) -> None:
    hook = admin.post("/api/v1/webhooks", json={"name": "lab", "url": "http://127.0.0.1:9/hook", "events": ["lab.finished", "lab.failed"]})
    assert hook.status_code == 201, hook.text
    campaign = finished(operator, runner, device)
    failing = start(operator, device)
    claimed = runner.claim(device)
    assert claimed is not None
    runner.end(claimed.id, CampaignState.failed, message="The device ended.")
    path = f"/api/v1/webhooks/{hook.json()['id']}/deliveries"

    def of_this_device() -> list[dict[str, Any]]:  # campaigns of other tests end about the same time
        return [each for each in admin.get(path).json()["items"] if each["about"] == f"lab campaign on {device}"]

    sent = eventually(lambda: len(items := of_this_device()) == 2 and items)
    assert {delivery["event"] for delivery in sent} == {"lab.finished", "lab.failed"}
    by_event = {d["event"]: json.loads(admin.get(f"{path}/{d['id']}").json()["body"]) for d in sent}
    data = by_event["lab.finished"]["data"]
    assert (data["id"], data["tests"], data["brute_force_tests"]) == (campaign["id"], 180, str(BRUTE_FORCE))
    assert data["causes"] == [
        {"symptom": "S6", "metric": None, "text": "S6 appears when egress_masks is at least 24.", "confidence": 0.99, "recognised": "C6"}
    ]
    assert (by_event["lab.failed"]["data"]["id"], by_event["lab.failed"]["data"]["message"]) == (failing["id"], "The device ended.")
