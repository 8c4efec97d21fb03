"""A remedy's life: requested, signed, sent, answered, refused, listed."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from wallwatch_backend.remedies.orders.results import AgentResult
from wallwatch_testing.remedies import PCI, order, wait_for


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {
        "command_ttl_s": 30,
        "remedy_watch_s": 0.1,
        "remedy_max_fleet_percent": 100,
        "remedy_approval_risk": "never",
        "remedy_breaker_failures": 1000,
    }


def test_the_catalogue_of_actions_has_ranges_risk_undo_and_two_checks(viewer: httpx.Client) -> None:
    actions = {action["action"]: action for action in viewer.get("/api/v1/remedy-actions").json()}
    assert set(actions) == {
        "tune-revalidator",
        "cordon-rnic",
        "pace-flow-insertion",
        "pace-vf-unbinding",
        "limit-vf-rate",
        "guarantee-vf-rate",
        "group-vf-rate",
        "recover-health-reporter",
        "apply-mask-plan",
        "stop-port-offload",
        "cap-encap-contexts",
        "remove-orphaned-filters",
    }
    tune = actions["tune-revalidator"]
    idle = next(p for p in tune["params"] if p["name"] == "max_idle_ms")
    assert (idle["minimum"], idle["maximum"], idle["unit"]) == (500, 3600000, "ms")
    assert tune["at_least_one"] == ["max_idle_ms", "flow_limit", "max_revalidator_ms", "offloaded_stats_delay_ms"]
    assert actions["limit-vf-rate"]["change"]["expected"] == "= Limit"
    assert actions["guarantee-vf-rate"]["change"]["expected"] == "= Guarantee"
    assert actions["group-vf-rate"]["at_least_one"] == ["max_tx_mbps", "min_tx_mbps"]
    assert [name for name, action in actions.items() if not action["reversible"]] == ["recover-health-reporter", "remove-orphaned-filters"]
    cures = {cure["symptom"]: cure["signal"] for cure in tune["cures"]}
    assert cures == {"S1": "reoffload_ratio", "S4": "flow_deletions_per_s", "S5": "software_packets_per_s"}
    assert actions["cordon-rnic"]["cures"] == [], "a cordon's flag says nothing about a symptom"


def test_a_dry_run_shows_the_exact_operations_and_changes_nothing(operator: httpx.Client, agent: Any, host: str, eventually: Any) -> None:
    remedy = wait_for(operator, eventually, order(operator, host, "dry_run").json(), "planned")
    assert remedy["operations"][0]["before"] == "10000"
    assert remedy["operations"][0]["after"] == "60000"
    assert (remedy["change"], remedy["effect"], remedy["symptom"]) == (None, None, None)
    assert remedy["undoable"] is False
    assert agent.commands[0]["operation"] == "dry_run"


def test_a_command_says_who_what_and_until_when(operator: httpx.Client, agent: Any, host: str, eventually: Any) -> None:
    remedy = wait_for(operator, eventually, order(operator, host).json(), "verifying")
    command = agent.commands[0]
    assert (command["host"], command["action"], command["operation"]) == (host, "tune-revalidator", "apply")
    assert command["remedy_id"] == remedy["id"]
    assert command["params"] == {"max_idle_ms": 60000}
    lasts = datetime.fromisoformat(command["expires_at"]) - datetime.fromisoformat(command["issued_at"])
    assert lasts == timedelta(seconds=30)


def test_what_an_agent_found_in_tc_is_kept_with_its_result() -> None:
    found = {
        "ports": 5,
        "filters": 7,
        "orphaned": 2,
        "new": 1,
        "examples": ["dev p0_0 ingress chain 0 pref 2 protocol ip handle 0x1 flower"],
    }
    reported = {"command_id": "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", "state": "done", "tc_audit": found}
    kept = AgentResult.model_validate(reported).model_dump(mode="json")["tc_audit"]
    assert kept == {**found, "error": None}
    assert AgentResult.model_validate({**reported, "tc_audit": None}).tc_audit is None


def test_a_refusal_is_shown_and_audited(operator: httpx.Client, admin: httpx.Client, agent: Any, host: str, eventually: Any) -> None:
    agent.answer = lambda c: {
        "command_id": c["command_id"],
        "remedy_id": c["remedy_id"],
        "state": "refused",
        "code": "precondition_failed",
        "message": "OVSDB does not answer",
        "operations": [],
    }
    remedy = wait_for(operator, eventually, order(operator, host).json(), "refused")
    assert (remedy["code"], remedy["message"]) == ("precondition_failed", "OVSDB does not answer")
    entry = admin.get("/api/v1/audit", params={"actor": f"agent:{host}", "action": "remedy."}).json()["items"][0]
    assert (entry["action"], entry["outcome"]) == ("remedy.apply.result", "refused")
    assert entry["detail"]["code"] == "precondition_failed"


def test_a_command_waits_for_an_agent_that_connects_in_time(
    operator: httpx.Client, fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, host: str, eventually: Any
) -> None:
    late = fake_agents.enrol(admin, anonymous, host)
    remedy = order(operator, host).json()
    with late:
        wait_for(operator, eventually, remedy, "verifying")


def test_a_command_without_a_result_is_sent_again_after_a_reconnect_and_answered_once(
    operator: httpx.Client, agent: Any, host: str, eventually: Any
) -> None:
    agent.answer = lambda command: None
    remedy = order(operator, host).json()
    wait_for(operator, eventually, remedy, "running")
    eventually(lambda: agent.commands)
    first = agent.commands[0]
    agent.__exit__()
    agent.answer = lambda c: {
        "command_id": c["command_id"],
        "remedy_id": c["remedy_id"],
        "state": "done",
        "repeated": True,
        "operations": [],
    }
    agent.__enter__()
    wait_for(operator, eventually, remedy, "verifying")
    assert agent.commands[1] == first
    eventually(lambda: agent.acknowledged(first) == 1)
    agent.send_result({"command_id": first["command_id"], "state": "failed", "operations": []})  # a contradiction later changes nothing
    eventually(lambda: agent.acknowledged(first) == 2)
    assert operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "verifying"


def test_an_agent_cannot_answer_for_another_host(
    operator: httpx.Client, fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, agent: Any, host: str, eventually: Any
) -> None:
    agent.answer = lambda command: None
    remedy = order(operator, host).json()
    with fake_agents.enrol(admin, anonymous, f"{host}-evil") as other:
        eventually(lambda: agent.commands)
        other.send_result({"command_id": agent.commands[0]["command_id"], "state": "done", "operations": []})
        eventually(lambda: other.acknowledged(agent.commands[0]))
    assert operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "running"


@pytest.mark.parametrize("noise", [b"", b"\x00\xff\xff", b"\x01abc", b"\x00"])
def test_frames_that_are_no_opamp_do_not_harm_the_connection(
    operator: httpx.Client, agent: Any, host: str, eventually: Any, noise: bytes
) -> None:
    agent.send_raw(noise)
    agent.send_result(b"{not json")
    agent.send_result({"command_id": "x", "state": "done"})
    wait_for(operator, eventually, order(operator, host, "dry_run").json(), "planned")


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        ({"action": "reboot"}, "unknown_action", "tune-revalidator"),
        ({"params": {"max_idle_ms": 499}}, "bad_parameter", "500"),
        ({"params": {"max_idle_ms": 60000.5}}, "bad_parameter", "integer"),
        ({"params": {"max_idle_ms": True}}, "bad_parameter", "integer"),
        ({"params": {}}, "bad_parameter", "at least one"),
        ({"params": {"max_idle_ms": 60000, "shell": "rm"}}, "bad_parameter", "shell"),
        ({"action": "cordon-rnic", "params": {"reason": "x" * 201}}, "bad_parameter", "200"),
        ({"action": "cordon-rnic", "params": {"reason": "x", "pci": "0000:01:00.0"}}, "bad_parameter", "equal"),
        ({"action": "cordon-rnic", "pci": None, "params": {"reason": "x"}}, "bad_parameter", "required"),
        ({"incident_id": str(uuid4())}, "unknown_incident", "no incident"),
    ],
)
def test_an_order_that_the_catalogue_does_not_allow_is_refused(
    operator: httpx.Client, agent: Any, host: str, change: dict[str, Any], code: str, says: str
) -> None:
    answer = order(operator, host, **change)
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] == code
    assert says in answer.json()["detail"]
    assert agent.commands == []


def test_a_host_without_an_agent_gets_no_remedy(operator: httpx.Client, host: str) -> None:
    answer = order(operator, host)
    assert answer.status_code == 409
    assert answer.json()["code"] == "no_agent"


def test_the_same_idempotency_key_orders_once(operator: httpx.Client, agent: Any, host: str, eventually: Any) -> None:
    first = order(operator, host, key=f"k-{host}").json()
    wait_for(operator, eventually, first, "verifying")
    again = order(operator, host, key=f"k-{host}")
    assert again.status_code == 201
    assert again.json()["id"] == first["id"]
    assert len(agent.commands) == 1
    other = order(operator, host, key=f"k-{host}", params={"max_idle_ms": 70000})
    assert other.json()["code"] == "idempotency_key_reused"


def test_two_remedies_of_a_kind_are_not_under_way_together(operator: httpx.Client, agent: Any, host: str) -> None:
    agent.answer = lambda command: None
    assert order(operator, host).status_code == 201
    assert order(operator, host).json()["code"] == "remedy_in_progress"


def test_the_incident_shows_its_remedies(
    operator: httpx.Client, backend: Any, agent: Any, host: str, findings: Any, eventually: Any
) -> None:
    findings.send(findings.finding(host=host, started=datetime.now(UTC)))
    incident = eventually(lambda: operator.get("/api/v1/incidents", params={"host": host}).json()["items"])[0]
    remedy = order(operator, host, incident_id=incident["id"]).json()
    wait_for(operator, eventually, remedy, "verifying")
    found = operator.get(f"/api/v1/incidents/{incident['id']}").json()
    assert found["remedy_ids"] == [remedy["id"]]
    assert [(e["kind"], e["actor"]) for e in found["timeline"]] == [
        ("opened", "wallwatch"),
        ("remedy", "operator"),
        ("remedy", f"agent:{host}"),
    ]


def test_remedies_can_be_listed_by_host_state_and_incident(operator: httpx.Client, agent: Any, host: str, eventually: Any) -> None:
    remedy = wait_for(operator, eventually, order(operator, host, "dry_run").json(), "planned")
    for params in ({"host": host}, {"host": host, "state": "planned"}, {"host": host, "pci": PCI}):
        assert [r["id"] for r in operator.get("/api/v1/remedies", params=params).json()["items"]] == [remedy["id"]]
    assert operator.get("/api/v1/remedies", params={"host": host, "state": "failed"}).json()["items"] == []
    assert operator.get(f"/api/v1/remedies/{uuid4()}").status_code == 404


def test_credentials_that_are_wrong_do_not_open_a_connection(agent: Any) -> None:
    url = agent.credentials["opamp_url"]
    good = agent.credentials["agent_id"]
    for header in (
        {},
        {"Authorization": f"Bearer {good}.wrong"},
        {"Authorization": f"Bearer {uuid4()}.x"},
        {"Authorization": "Bearer x.y"},
    ):
        with pytest.raises(InvalidStatus) as refused, connect(url, additional_headers=header):
            pass
        assert refused.value.response.status_code == 401
