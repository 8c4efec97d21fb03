"""Automatic mode: a rule that is on treats what matches without a click, within every limit; one that is off does nothing."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

PCI = "0000:3b:00.0"
RULE = {
    "name": "S7: space releases",
    "action": "pace-vf-unbinding",
    "params": {"interval_ms": 500},
    "matchers": [{"name": "symptom", "op": "=", "value": "S7"}],
}


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"remedy_watch_s": 0.1, "remedy_always_hosts": 1, "remedy_max_fleet_percent": 0.1, "remedy_max_racks": 100}


@pytest.fixture(autouse=True)
def nothing_under_way(backend: Any) -> Iterator[None]:
    yield
    backend.clear("automation_rule", "remedy", "remedy_stop", "incident")


@pytest.fixture
def agent(fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client) -> Iterator[Any]:
    """One host whose agent carries out every command."""
    with fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}") as made:
        yield made


@pytest.fixture
def rule(admin: httpx.Client) -> Callable[..., dict[str, Any]]:
    """A function that creates a rule and, unless `on` is false, enables it."""

    def make(*, on: bool = True, **more: Any) -> dict[str, Any]:
        answer = admin.post("/api/v1/automation-rules", json={**RULE, **more})
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        assert made["enabled"] is False, "a new rule is off"
        return admin.post(f"/api/v1/automation-rules/{made['id']}/enable").json() if on else made

    return make


@pytest.fixture
def begins(apply_findings: Any, findings: Any) -> Callable[..., None]:
    """A function that lets a symptom begin on a host."""

    def begin(host: str, symptom: str = "S7", **more: Any) -> None:
        apply_findings(findings.finding(symptom, started=datetime.now(UTC) - timedelta(minutes=1), host=host, pci=PCI, **more))

    return begin


def runs(client: httpx.Client, rule: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/api/v1/automation-rules/{rule['id']}/runs").json()["items"]
    return found


def operations(agent: Any) -> list[str]:
    return [command["operation"] for command in agent.commands]


def test_a_matching_incident_is_treated_without_a_click_dry_run_first(
    viewer: httpx.Client, admin: httpx.Client, agent: Any, rule: Any, begins: Any, eventually: Any
) -> None:
    made = rule()
    begins(agent.host)
    (run,) = eventually(lambda: (found := runs(viewer, made)) and found[0]["state"] == "change_confirmed" and found)
    assert operations(agent) == ["dry_run", "apply"]
    remedy = viewer.get(f"/api/v1/remedies/{run['remedy_id']}").json()
    assert (remedy["state"], remedy["requested_by"], remedy["incident_id"]) == (
        "change_confirmed",
        f"automation:{RULE['name']}",
        run["incident_id"],
    )
    audited = [entry["action"] for entry in admin.get("/api/v1/audit", params={"actor": f"automation:{RULE['name']}"}).json()["items"]]
    assert {"remedy.dry_run", "remedy.apply"} <= set(audited)
    assert len(runs(viewer, made)) == 1, "a place is left alone for a while"


def test_nothing_happens_while_the_rule_is_off_or_does_not_match(
    viewer: httpx.Client, agent: Any, rule: Any, begins: Any, eventually: Any
) -> None:
    off = rule(on=False)
    other = rule(name="another rack", matchers=[*RULE["matchers"], {"name": "host", "op": "!=", "value": agent.host}])
    witness = rule(name="another symptom", matchers=[{"name": "symptom", "op": "=", "value": "S2"}])
    begins(agent.host)
    begins(agent.host, "S2")
    eventually(lambda: (found := runs(viewer, witness)) and found[0]["state"] == "change_confirmed")
    assert [runs(viewer, off), runs(viewer, other)] == [[], []]


def test_a_remedy_that_is_not_confirmed_is_undone(viewer: httpx.Client, agent: Any, rule: Any, begins: Any, eventually: Any) -> None:
    def lame(command: dict[str, Any]) -> dict[str, Any]:
        state = "failed" if command["operation"] == "apply" else "done"
        return {"command_id": command["command_id"], "remedy_id": command["remedy_id"], "state": state, "message": "x", "operations": []}

    agent.answer = lame
    made = rule()
    begins(agent.host)
    (run,) = eventually(lambda: (found := runs(viewer, made)) and found[0]["ended_at"] and found)
    assert (run["state"], operations(agent)) == ("undone", ["dry_run", "apply", "undo"])
    assert "It did not work" in run["message"]


def test_a_dry_run_that_is_refused_ends_it(viewer: httpx.Client, agent: Any, rule: Any, begins: Any, eventually: Any) -> None:
    agent.answer = lambda command: {
        "command_id": command["command_id"],
        "remedy_id": command["remedy_id"],
        "state": "refused",
        "code": "precondition_failed",
        "message": "no such RNIC",
        "operations": [],
    }
    made = rule()
    begins(agent.host)
    (run,) = eventually(lambda: (found := runs(viewer, made)) and found[0]["ended_at"] and found)
    assert (run["state"], run["message"], operations(agent)) == ("gave_up", "Dry run: no such RNIC", ["dry_run"])


def test_a_rule_waits_for_an_emergency_stop_and_for_its_window(
    viewer: httpx.Client, operator: httpx.Client, admin: httpx.Client, agent: Any, rule: Any, begins: Any, eventually: Any
) -> None:
    now = datetime.now(UTC)
    closed = rule(
        name="at night",
        window_from=f"{now + timedelta(hours=2):%H:%M}",
        window_to=f"{now + timedelta(hours=3):%H:%M}",
        action="cordon-rnic",
        params={"reason": "links were lost"},
    )
    operator.post("/api/v1/remedy-control/stop", json={"reason": "the fleet burns"})
    made = rule()
    begins(agent.host)
    assert admin.post("/api/v1/automation-rules/preview", json=RULE).json() == {"places": [f"{agent.host} {PCI}"], "total": 1}
    assert (runs(viewer, made), agent.commands) == ([], [])
    admin.post("/api/v1/remedy-control/resume")
    eventually(lambda: (found := runs(viewer, made)) and found[0]["state"] == "change_confirmed")
    assert runs(viewer, closed) == []


def test_a_limited_number_of_hosts_at_once_and_the_others_wait(
    viewer: httpx.Client,
    fake_agents: Any,
    admin: httpx.Client,
    anonymous: httpx.Client,
    agent: Any,
    rule: Any,
    begins: Any,
    eventually: Any,
) -> None:
    # Telemetry would have to confirm its effect on S1, and nobody sends any.
    slow = {"action": "tune-revalidator", "params": {"max_idle_ms": 60000}, "matchers": [{"name": "symptom", "op": "=", "value": "S1"}]}
    made = rule(**slow)
    with fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}") as second:
        begins(agent.host, "S1")
        begins(second.host, "S1")
        states = eventually(lambda: (s := sorted(run["state"] for run in runs(viewer, made))) == ["applying", "waiting"] and s)
        waiting = next(run for run in runs(viewer, made) if run["state"] == "waiting")
        assert "the limit is 1" in waiting["message"], states
        assert sorted([operations(agent), operations(second)]) == [["dry_run"], ["dry_run", "apply"]]
        admin.post(f"/api/v1/automation-rules/{made['id']}/disable")
        ended = eventually(lambda: [run for run in runs(viewer, made) if run["state"] == "gave_up"])
        assert "disabled" in ended[0]["message"]


def test_a_high_risk_action_still_waits_for_a_person_who_did_not_enable_the_rule(
    viewer: httpx.Client, operator: httpx.Client, admin: httpx.Client, agent: Any, rule: Any, begins: Any, eventually: Any
) -> None:
    made = rule(action="recover-health-reporter", params={"reporter": "fw_fatal"})
    assert made["needs_approval"] is True
    begins(agent.host)
    (run,) = eventually(lambda: (found := runs(viewer, made)) and "approval" in (found[0]["message"] or "") and found)
    path = f"/api/v1/remedies/{run['remedy_id']}/approve"
    assert admin.post(path).json()["code"] == "second_person_needed", "the administrator created the rule"
    assert operator.post(path).status_code == 202
    eventually(lambda: operations(agent) == ["dry_run", "apply"])


def test_what_somebody_has_taken_is_left_to_them(
    viewer: httpx.Client, operator: httpx.Client, agent: Any, rule: Any, begins: Any, eventually: Any
) -> None:
    begins(agent.host)
    (incident,) = operator.get("/api/v1/incidents", params={"host": agent.host}).json()["items"]
    operator.post(f"/api/v1/incidents/{incident['id']}/acknowledge")
    made = rule()
    assert operator.post("/api/v1/automation-rules/preview", json=RULE).json()["total"] == 0
    operator.post(f"/api/v1/incidents/{incident['id']}/unacknowledge")
    eventually(lambda: runs(viewer, made))


def test_a_changed_rule_is_off_until_it_is_switched_on_again(admin: httpx.Client, operator: httpx.Client, rule: Any) -> None:
    made = rule()
    path = f"/api/v1/automation-rules/{made['id']}"
    assert operator.put(path, json=RULE).status_code == 403
    assert operator.post(f"{path}/enable").status_code == 403
    changed = admin.put(path, json={**RULE, "cooldown_s": 600}).json()
    assert (changed["enabled"], changed["enabled_by"], changed["cooldown_s"]) == (False, None, 600)
    assert admin.delete(path).status_code == 204
    audited = [entry["action"] for entry in admin.get("/api/v1/audit", params={"action": "automation.", "limit": 4}).json()["items"]]
    assert audited == ["automation.delete", "automation.change", "automation.enable", "automation.create"]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"action": "apply-mask-plan"}, 422, "bad_parameter"),
        ({"trigger": "decline"}, 422, "invalid_input"),
        ({"trigger": "decline", "action": "apply-mask-plan", "params": {}}, 422, "invalid_input"),
        ({"trigger": "decline", "action": "apply-mask-plan", "params": {}, "matchers": []}, 422, "rule_matches_everything"),
        ({"action": "reboot"}, 422, "unknown_action"),
        ({"params": {"interval_ms": 1}}, 422, "bad_parameter"),
        ({"matchers": []}, 422, "rule_matches_everything"),
        ({"matchers": [{"name": "symptom", "op": "!=", "value": "S1"}]}, 422, "rule_matches_everything"),
        ({"window_from": "01:00"}, 422, "invalid_input"),
        ({"window_from": "25:00", "window_to": "02:00"}, 422, "invalid_input"),
        ({"cooldown_s": 1}, 422, "invalid_input"),
    ],
)
def test_a_rule_that_cannot_work_is_refused(admin: httpx.Client, change: dict[str, Any], status: int, code: str) -> None:
    answer = admin.post("/api/v1/automation-rules", json={**RULE, **change})
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
