"""A remedy on many hosts: canary, waves, and everything that stops it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

PCI = "0000:3b:00.0"


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {
        "command_ttl_s": 60,
        "remedy_watch_s": 0.1,
        "remedy_always_hosts": 3,
        "remedy_max_fleet_percent": 1,
        "remedy_max_racks": 100,
    }


@pytest.fixture(autouse=True)
def nothing_under_way(backend: Any) -> Iterator[None]:
    yield
    backend.clear("remedy", "rollout", "remedy_stop", "incident")


@pytest.fixture
def agents(fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client) -> Iterator[list[Any]]:
    """Five hosts whose agents carry out every command."""
    with ExitStack() as stack:
        yield [stack.enter_context(fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}")) for _ in range(5)]


Wait = Callable[..., dict[str, Any]]


@pytest.fixture
def wait_for(operator: httpx.Client, eventually: Any) -> Wait:
    """A function that waits until a rollout is in a state, and returns it."""

    def wait(rollout: dict[str, Any], *states: str) -> dict[str, Any]:
        path = f"/api/v1/rollouts/{rollout['id']}"
        found: dict[str, Any] = eventually(lambda: (r := operator.get(path).json())["state"] in states and r, 60)
        return found

    return wait


def roll_out(client: httpx.Client, agents: list[Any], action: str = "pace-vf-unbinding", **more: Any) -> dict[str, Any]:
    """A pace is verified by the agent's word, a tuned revalidator only by telemetry, which nobody sends here."""
    params = {"pace-vf-unbinding": {"interval_ms": 500}, "tune-revalidator": {"max_idle_ms": 60000}}[action]
    targets = [{"host": agent.host, "pci": PCI} for agent in agents]
    answer = client.post(
        "/api/v1/rollouts", json={"action": action, "params": params, "targets": targets, "reason": "links were lost", **more}
    )
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def post(client: httpx.Client, rollout: dict[str, Any], what: str, **body: Any) -> httpx.Response:
    return client.post(f"/api/v1/rollouts/{rollout['id']}/{what}", json=body or None)


def fail(command: dict[str, Any]) -> dict[str, Any]:
    if command["operation"] == "undo":
        return {"command_id": command["command_id"], "remedy_id": command["remedy_id"], "state": "done", "operations": []}
    return {
        "command_id": command["command_id"],
        "remedy_id": command["remedy_id"],
        "state": "failed",
        "code": "verify_failed",
        "operations": [],
    }


def operations(agent: Any) -> list[str]:
    return [command["operation"] for command in agent.commands]


def test_a_canary_goes_first_and_then_wave_after_wave(
    operator: httpx.Client, admin: httpx.Client, agents: list[Any], wait_for: Wait
) -> None:
    made = roll_out(operator, agents)
    assert [len(wave) for wave in made["waves"]] == [1, 3, 1]
    assert made["state"] == "pending", "more than a few hosts need a second person"
    assert post(operator, made, "approve").json()["code"] == "second_person_needed"
    approved = post(admin, made, "approve", comment="seen the canary's dry run").json()
    assert (approved["decided_by"], approved["decision_comment"]) == ("admin", "seen the canary's dry run")
    done = wait_for(made, "confirmed", "stopped", "paused")
    assert (done["state"], done["confirmed"], done["targets"]) == ("confirmed", 5, 5), done
    remedies = {r["host"]: r for r in operator.get("/api/v1/remedies").json()["items"] if r["rollout_id"] == made["id"]}
    ordered = [remedies[agent.host] for agent in agents]
    assert max(r["updated_at"] for r in ordered[:1]) <= min(r["created_at"] for r in ordered[1:4])
    assert max(r["updated_at"] for r in ordered[1:4]) <= ordered[4]["created_at"]
    assert all(operations(agent) == ["apply"] for agent in agents)
    audited = {entry["action"] for entry in admin.get("/api/v1/audit", params={"action": "rollout."}).json()["items"]}
    assert {"rollout.propose", "rollout.approve"} <= audited


def test_a_canary_that_fails_spares_the_others(operator: httpx.Client, agents: list[Any], wait_for: Wait) -> None:
    agents[0].answer = fail
    stopped = wait_for(roll_out(operator, agents[:3]), "stopped")
    assert agents[0].host in stopped["message"]
    assert "failed" in stopped["message"]
    assert [operations(agent) for agent in agents[:3]] == [["apply"], [], []]


def test_a_failed_wave_is_rolled_back_if_requested(operator: httpx.Client, agents: list[Any], wait_for: Wait) -> None:
    agents[2].answer = fail
    made = roll_out(operator, agents[:3], undo_on_stop=True)
    undone = wait_for(made, "undone", "undo_paused")
    assert [operations(agent)[-1] for agent in agents[:3]] == ["undo"] * 3
    assert (undone["state"], undone["undo"]["by"], undone["undo"]["undone"]) == ("undone", "operator", 3)
    assert f"{agents[2].host}" in undone["message"]


def test_a_symptom_that_begins_on_a_treated_host_stops_it(
    operator: httpx.Client, agents: list[Any], wait_for: Wait, eventually: Any, apply_findings: Any, findings: Any
) -> None:
    made = roll_out(operator, agents[:3], "tune-revalidator")
    path = f"/api/v1/rollouts/{made['id']}"
    eventually(lambda: operator.get(path).json()["waves"][0][0]["state"] == "verifying")
    before, after = datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) + timedelta(seconds=1)
    apply_findings(findings.finding("S1", started=before, host=agents[0].host), findings.finding("S6", started=after, host=agents[4].host))
    apply_findings(findings.finding("S7", started=after, host=agents[0].host))
    stopped = wait_for(made, "stopped")
    assert stopped["message"] == f"S7 began on {agents[0].host} after the wave did"
    assert operations(agents[1]) == []


def test_a_wave_larger_than_the_limit_goes_on_as_hosts_become_free(
    operator: httpx.Client, agents: list[Any], wait_for: Wait, admin: Any
) -> None:
    made = roll_out(operator, agents, canary=5)
    assert post(admin, made, "approve").status_code == 200
    assert wait_for(made, "confirmed", "stopped")["confirmed"] == 5


def test_it_pauses_resumes_and_is_stopped_for_good(operator: httpx.Client, agents: list[Any], wait_for: Wait, eventually: Any) -> None:
    made = roll_out(operator, agents[:3], "tune-revalidator")
    assert post(operator, made, "pause").json()["state"] == "paused"
    assert post(operator, made, "pause").json()["code"] == "wrong_state"
    assert post(operator, made, "resume").json()["message"] is None
    path = f"/api/v1/rollouts/{made['id']}"
    eventually(lambda: operator.get(path).json()["waves"][0][0]["state"] == "verifying")
    stopped = post(operator, made, "stop", reason="enough", undo=True).json()
    assert (stopped["state"], stopped["message"]) == ("undoing", "enough")
    assert wait_for(made, "undone")["waves"][0][0]["state"] == "undone"
    assert post(operator, made, "resume").json()["code"] == "wrong_state"
    assert operations(agents[1]) == []


def test_an_emergency_stop_pauses_it(operator: httpx.Client, admin: httpx.Client, agents: list[Any], wait_for: Wait) -> None:
    operator.post("/api/v1/remedy-control/stop", json={"reason": "the fleet burns"})
    made = roll_out(operator, agents[:2])
    assert "the fleet burns" in wait_for(made, "paused")["message"]
    assert operations(agents[0]) == []
    admin.post("/api/v1/remedy-control/resume")
    post(operator, made, "resume")
    assert wait_for(made, "confirmed")["confirmed"] == 2


def test_it_keeps_to_its_maintenance_window(operator: httpx.Client, agents: list[Any], wait_for: Wait, eventually: Any) -> None:
    at = datetime.now(UTC)
    later = roll_out(operator, agents[:1], not_before=(at + timedelta(hours=1)).isoformat())
    over = roll_out(operator, agents[1:2], not_after=(at - timedelta(hours=1)).isoformat())
    assert "window" in wait_for(over, "paused")["message"]
    assert operator.get(f"/api/v1/rollouts/{later['id']}").json()["state"] == "running"
    assert [operations(agent) for agent in agents[:2]] == [[], []]


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"action": "reboot"}, 422, "unknown_action"),
        ({"params": {"interval_ms": 1}}, 422, "bad_parameter"),
        ({"targets": [{"host": "h1"}]}, 422, "bad_parameter"),
        ({"targets": [{"host": "nobody", "pci": PCI}]}, 409, "no_agent"),
        ({"targets": [{"host": "h1", "pci": PCI}] * 2}, 422, "invalid_input"),
        ({"targets": []}, 422, "invalid_input"),
        ({"not_before": "2026-01-02T00:00:00Z", "not_after": "2026-01-01T00:00:00Z"}, 422, "invalid_input"),
    ],
)
def test_what_cannot_work_is_refused_before_it_begins(operator: httpx.Client, change: dict[str, Any], status: int, code: str) -> None:
    body = {
        "action": "pace-vf-unbinding",
        "params": {"interval_ms": 500},
        "targets": [{"host": "nobody", "pci": PCI}],
        "reason": "x",
        **change,
    }
    answer = operator.post("/api/v1/rollouts", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


def test_a_lost_answer_starts_no_second_rollout_and_the_incident_hears_of_each_remedy(
    operator: httpx.Client, agents: list[Any], wait_for: Wait, apply_findings: Any, findings: Any
) -> None:
    host = agents[0].host
    apply_findings(findings.finding("S7", started=datetime.now(UTC) - timedelta(hours=1), host=host, pci=PCI))
    (incident,) = operator.get("/api/v1/incidents", params={"host": host}).json()["items"]
    body = {
        "action": "pace-vf-unbinding",
        "params": {"interval_ms": 500},
        "targets": [{"host": host, "pci": PCI}],
        "reason": "links were lost",
        "incident_id": incident["id"],
    }
    key = {"Idempotency-Key": uuid4().hex}
    first, again = (operator.post("/api/v1/rollouts", json=body, headers=key).json() for _ in range(2))
    assert first["id"] == again["id"]
    assert wait_for(first, "confirmed", "stopped")["incident_id"] == incident["id"]
    assert len(operator.get(f"/api/v1/incidents/{incident['id']}").json()["remedy_ids"]) == 1
    unknown = operator.post("/api/v1/rollouts", json={**body, "incident_id": str(uuid4())}).json()
    assert unknown["code"] == "unknown_incident"


def test_a_rejected_rollout_never_begins(operator: httpx.Client, admin: httpx.Client, agents: list[Any]) -> None:
    made = roll_out(operator, agents)
    rejected = post(admin, made, "reject", reason="not on a Friday").json()
    assert (rejected["state"], rejected["message"], rejected["decided_by"]) == ("rejected", "not on a Friday", "admin")
    assert post(admin, made, "approve").json()["code"] == "wrong_state"


def refuse_undo(command: dict[str, Any]) -> dict[str, Any]:
    state = "failed" if command["operation"] == "undo" else "done"
    return {
        "command_id": command["command_id"],
        "remedy_id": command["remedy_id"],
        "state": state,
        "code": "apply_failed" if state == "failed" else "",
        "message": "the database is read-only" if state == "failed" else "",
        "operations": [],
    }


def test_a_whole_rollout_is_rolled_back_in_reverse_one_target_first(
    operator: httpx.Client, admin: httpx.Client, agents: list[Any], wait_for: Wait
) -> None:
    made = roll_out(operator, agents[:3])
    assert wait_for(made, "confirmed")["undoable"]
    assert post(operator, made, "undo").status_code == 422, "a reason is required"
    asked = post(operator, made, "undo", reason="the job is over")
    assert (asked.status_code, asked.json()["state"], asked.json()["undo"]["targets"]) == (202, "undoing", 3)
    assert post(operator, made, "undo", reason="twice").json()["code"] == "wrong_state"
    done = wait_for(made, "undone", "undo_paused")
    assert (done["state"], done["undoable"], done["undo"]["undone"]) == ("undone", False, 3), done
    remedies = {r["host"]: r for r in operator.get("/api/v1/remedies").json()["items"] if r["rollout_id"] == made["id"]}
    first, second, canary = (next(c for c in remedies[agents[i].host]["commands"] if c["operation"] == "undo") for i in (1, 2, 0))
    assert first["finished_at"] <= second["issued_at"]
    assert second["finished_at"] <= canary["issued_at"]
    log = admin.get("/api/v1/audit", params={"action": "rollout."}).json()["items"]
    audited = {entry["action"]: entry for entry in log if entry["target"] == made["id"]}
    assert audited["rollout.undo"]["detail"]["reason"] == "the job is over"
    assert audited["rollout.undone"]["actor"] == "operator"


def test_an_undo_that_fails_pauses_the_rollback_until_somebody_resumes_it(
    operator: httpx.Client, agents: list[Any], wait_for: Wait
) -> None:
    carries_out, agents[1].answer = agents[1].answer, refuse_undo
    made = roll_out(operator, agents[:3])
    wait_for(made, "confirmed")
    post(operator, made, "undo", reason="the job is over")
    held = wait_for(made, "undo_paused", "undone")
    assert f"{agents[1].host} {PCI} could not be undone" in held["undo"]["message"]
    target = held["waves"][1][0]
    assert (target["state"], target["undo_state"], target["undo_message"]) == ("change_confirmed", "failed", "the database is read-only")
    assert [operations(agent) for agent in agents[:3]] == [["apply"], ["apply", "undo"], ["apply"]]
    post(operator, made, "undo", reason="leave that one", despite_failures=True)
    left = wait_for(made, "undo_paused", "undone")
    assert (left["state"], left["undo"]["undone"], left["undo"]["targets"]) == ("undo_paused", 2, 3)
    agents[1].answer = carries_out
    assert post(operator, made, "resume").json()["state"] == "undoing"
    assert wait_for(made, "undone")["undo"]["undone"] == 3


def test_what_has_done_nothing_or_can_not_be_put_back_is_not_undoable(operator: httpx.Client, agents: list[Any]) -> None:
    made = roll_out(operator, agents[:1], not_before=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    assert not made["undoable"]
    assert post(operator, made, "undo", reason="never mind").json()["code"] == "not_undoable"
    assert post(operator, {"id": uuid4()}, "undo", reason="never mind").status_code == 404
