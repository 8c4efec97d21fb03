"""A remedy's life: ordered, signed, sent, answered, verified by telemetry, undone."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from wallwatch_backend.remedies.results import AgentResult

PCI = "0000:3b:00.0"


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {
        "command_ttl_s": 5,
        "command_grace_s": 0,
        "remedy_max_fleet_percent": 100,
        "remedy_approval_risk": "never",
        "remedy_breaker_failures": 1000,
    }


@pytest.fixture
def host() -> str:
    return f"host-{uuid4().hex[:8]}"


@pytest.fixture
def agent(fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, host: str) -> Iterator[Any]:
    with fake_agents.enrol(admin, anonymous, host) as agent:
        yield agent


def order(client: httpx.Client, host: str, mode: str = "apply", **more: Any) -> httpx.Response:
    headers = {"Idempotency-Key": more.pop("key")} if "key" in more else {}
    body = {"action": "tune-revalidator", "host": host, "pci": PCI, "params": {"max_idle_ms": 60000}, "mode": mode, **more}
    return client.post("/api/v1/remedies", json=body, headers=headers)


def wait_for(client: httpx.Client, eventually: Any, remedy: dict[str, Any], *states: str, timeout_s: float = 20) -> dict[str, Any]:
    path = f"/api/v1/remedies/{remedy['id']}"
    reached: dict[str, Any] = eventually(lambda: (r := client.get(path).json())["state"] in states and r, timeout_s)
    return reached


def write_ratio(backend: Any, host: str, samples: list[tuple[datetime, float | None]], pci: str = PCI) -> None:
    with backend.connect() as connection:
        (rnic_id,) = connection.execute(
            "INSERT INTO rnic (host, pci) VALUES (%s, %s) ON CONFLICT (host, pci) DO UPDATE SET rack = '' RETURNING rnic_id", [host, pci]
        ).fetchone()
        for at, ratio in samples:
            connection.execute("INSERT INTO offload_sample (time, rnic_id, reoffload_ratio) VALUES (%s, %s, %s)", [at, rnic_id, ratio])


def test_the_catalogue_of_actions_has_ranges_risk_undo_and_verification(viewer: httpx.Client) -> None:
    actions = {action["action"]: action for action in viewer.get("/api/v1/remedy-actions").json()}
    assert set(actions) == {
        "tune-revalidator",
        "cordon-rnic",
        "pace-flow-insertion",
        "pace-vf-unbinding",
        "limit-vf-rate",
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
    assert actions["limit-vf-rate"]["verification"]["expected"] == "= Limit"
    assert [name for name, action in actions.items() if not action["reversible"]] == ["recover-health-reporter", "remove-orphaned-filters"]
    assert tune["verification"]["signal"] == "reoffload_ratio"


def test_a_dry_run_shows_the_exact_operations_and_changes_nothing(operator: httpx.Client, agent: Any, host: str, eventually: Any) -> None:
    remedy = wait_for(operator, eventually, order(operator, host, "dry_run").json(), "planned")
    assert remedy["operations"][0]["before"] == "10000"
    assert remedy["operations"][0]["after"] == "60000"
    assert remedy["verification"] is None
    assert remedy["undoable"] is False
    assert agent.commands[0]["operation"] == "dry_run"


def test_a_command_says_who_what_and_until_when(operator: httpx.Client, agent: Any, host: str, eventually: Any) -> None:
    remedy = wait_for(operator, eventually, order(operator, host).json(), "applied")
    command = agent.commands[0]
    assert (command["host"], command["action"], command["operation"]) == (host, "tune-revalidator", "apply")
    assert command["remedy_id"] == remedy["id"]
    assert command["params"] == {"max_idle_ms": 60000}
    lasts = datetime.fromisoformat(command["expires_at"]) - datetime.fromisoformat(command["issued_at"])
    assert lasts == timedelta(seconds=5)


def test_an_applied_remedy_is_verified_by_telemetry_and_can_be_undone(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    applied = wait_for(operator, eventually, order(operator, host).json(), "applied")
    assert applied["verification"]["measured"] is None
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [(at - timedelta(seconds=60), 0.0), (at + timedelta(seconds=5), 0.4)])
    eventually(lambda: operator.get(f"/api/v1/remedies/{applied['id']}").json()["verification"]["measured"] == 0.4)
    write_ratio(backend, host, [(at + timedelta(seconds=10 * i), 0.01 * i) for i in (1, 2, 3)])
    verified = wait_for(operator, eventually, applied, "verified")
    assert verified["verification"]["measured"] == 0.03
    assert verified["undoable"] is True
    assert operator.post(f"/api/v1/remedies/{applied['id']}/undo").status_code == 202
    undone = wait_for(operator, eventually, applied, "undone")
    assert [c["operation"] for c in undone["commands"]] == ["apply", "undo"]
    assert undone["undoable"] is False
    assert operator.post(f"/api/v1/remedies/{applied['id']}/undo").json()["code"] == "not_undoable"


def test_a_rate_limit_is_verified_by_the_limit_that_the_driver_reports_for_that_function(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    ordered = order(operator, host, action="limit-vf-rate", params={"vf": 3, "max_tx_mbps": 2500})
    applied = wait_for(operator, eventually, ordered.json(), "applied")
    assert applied["verification"]["expected"] == "= 2500"
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [])
    with backend.connect() as connection:
        (rnic_id,) = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s", [host]).fetchone()
        for vf, limit in ((2, 2500), (3, 0)):
            connection.execute(
                "INSERT INTO vf_sample (time, rnic_id, vf, max_tx_mbps) VALUES (%s, %s, %s, %s)",
                [at + timedelta(seconds=5), rnic_id, vf, limit],
            )
        eventually(lambda: operator.get(f"/api/v1/remedies/{applied['id']}").json()["verification"]["measured"] == 0)
        connection.execute(
            "INSERT INTO vf_sample (time, rnic_id, vf, max_tx_mbps) VALUES (%s, %s, 3, 2500)", [at + timedelta(seconds=125), rnic_id]
        )
    assert wait_for(operator, eventually, applied, "verified")["verification"]["measured"] == 2500


def test_a_recovery_is_verified_by_the_reporters_health_and_cannot_be_undone(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    ordered = order(operator, host, action="recover-health-reporter", params={"reporter": "fw_fatal"})
    applied = wait_for(operator, eventually, ordered.json(), "applied")
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [])
    with backend.connect() as connection:
        (rnic_id,) = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s", [host]).fetchone()
        for seconds, failed in ((5, 1), (10, 0), (20, 0), (30, 0)):
            connection.execute(
                "INSERT INTO rnic_sample (time, rnic_id, other) VALUES (%s, %s, jsonb_build_object('health_reporters_failed', %s::int))",
                [at + timedelta(seconds=seconds), rnic_id, failed],
            )
    verified = wait_for(operator, eventually, applied, "verified")
    assert verified["undoable"] is False
    assert operator.post(f"/api/v1/remedies/{applied['id']}/undo").json()["code"] == "not_undoable"


def test_a_cap_on_contexts_is_verified_once_the_rnic_keeps_below_it(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    ordered = order(operator, host, action="cap-encap-contexts", params={"max_contexts": 8000, "max_ports": 2})
    applied = wait_for(operator, eventually, ordered.json(), "applied")
    assert applied["verification"]["expected"] == "<= 8000"
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [])
    with backend.connect() as connection:
        (rnic_id,) = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s", [host]).fetchone()
        for seconds, contexts in ((5, 9400), (10, 8000), (20, 7900), (30, 7950)):
            connection.execute(
                "INSERT INTO offload_sample (time, rnic_id, encap_contexts) VALUES (%s, %s, %s)",
                [at + timedelta(seconds=seconds), rnic_id, contexts],
            )
    verified = wait_for(operator, eventually, applied, "verified")
    assert verified["verification"]["measured"] == 7950
    assert verified["undoable"] is True


def test_that_orphaned_filters_are_gone_is_verified_by_the_collectors_own_look_at_the_host(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    ordered = order(operator, host, action="remove-orphaned-filters", params={"max_filters": 10}, pci=None)
    applied = wait_for(operator, eventually, ordered.json(), "applied")
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    with backend.connect() as connection:
        for name, found in ((f"{host}-other", 3), (host, 0)):
            (host_id,) = connection.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", [name]).fetchone()
            connection.execute(
                "INSERT INTO datapath_sample (time, host_id, datapath, other)"
                " VALUES (%s, %s, 'd', jsonb_build_object('tc_filters_orphaned', %s::int))",
                [at + timedelta(seconds=200), host_id, found],
            )
    assert wait_for(operator, eventually, applied, "verified")["verification"]["measured"] == 0


def test_what_an_agent_found_in_tc_is_kept_with_its_result() -> None:
    found = {
        "ports": 5,
        "filters": 7,
        "orphaned": 2,
        "new": 1,
        "examples": ["dev p0_0 ingress chain 0 pref 2 protocol ip handle 0x1 flower"],
    }
    told = {"command_id": "0b6f3a52-54c1-4a2e-9d3c-2f0a4f3b9c11", "state": "done", "tc_audit": found}
    kept = AgentResult.model_validate(told).model_dump(mode="json")["tc_audit"]
    assert kept == {**found, "error": None}
    assert AgentResult.model_validate({**told, "tc_audit": None}).tc_audit is None


def test_a_pace_is_verified_by_the_agents_word(operator: httpx.Client, agent: Any, host: str, eventually: Any) -> None:
    ordered = order(operator, host, action="pace-vf-unbinding", params={"interval_ms": 500})
    assert wait_for(operator, eventually, ordered.json(), "verified")["undoable"] is True


def test_samples_of_another_rnic_verify_nothing(operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any) -> None:
    applied = wait_for(operator, eventually, order(operator, host).json(), "applied")
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [(at + timedelta(seconds=10 * i), 0.0) for i in (1, 2, 3, 4)], pci="0000:99:00.0")
    time.sleep(3)
    assert operator.get(f"/api/v1/remedies/{applied['id']}").json()["state"] == "applied"


def test_a_remedy_that_telemetry_does_not_confirm_in_time_is_not_verified(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    applied = wait_for(operator, eventually, order(operator, host).json(), "applied")
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [(at + timedelta(seconds=1), 0.5)])
    with backend.connect() as connection:  # three minutes pass
        connection.execute(
            "UPDATE remedy SET verification = verification || jsonb_build_object('deadline', %s::text) WHERE id = %s",
            [(datetime.now(UTC) - timedelta(minutes=1)).isoformat(), applied["id"]],
        )
    found = wait_for(operator, eventually, applied, "not_verified")
    assert found["verification"]["measured"] == 0.5
    assert found["undoable"] is True


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


def test_without_an_answer_the_remedy_expires_and_a_late_result_still_counts(
    operator: httpx.Client, agent: Any, host: str, eventually: Any
) -> None:
    agent.answer = lambda command: None
    remedy = order(operator, host).json()
    wait_for(operator, eventually, remedy, "dispatched")
    expired = wait_for(operator, eventually, remedy, "expired")
    assert "did not answer" in expired["message"]
    command = agent.commands[0]
    agent.send_result({"command_id": command["command_id"], "remedy_id": command["remedy_id"], "state": "done", "operations": []})
    wait_for(operator, eventually, remedy, "applied")


def test_a_command_that_was_never_delivered_expires(
    operator: httpx.Client, fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, host: str, eventually: Any
) -> None:
    fake_agents.enrol(admin, anonymous, host)
    remedy = order(operator, host).json()
    assert remedy["state"] == "pending"
    assert "not connected" in wait_for(operator, eventually, remedy, "expired")["message"]


def test_a_command_waits_for_an_agent_that_connects_in_time(
    operator: httpx.Client, fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, host: str, eventually: Any
) -> None:
    late = fake_agents.enrol(admin, anonymous, host)
    remedy = order(operator, host).json()
    with late:
        wait_for(operator, eventually, remedy, "applied")


def test_a_command_without_a_result_is_sent_again_after_a_reconnect_and_answered_once(
    operator: httpx.Client, agent: Any, host: str, eventually: Any
) -> None:
    agent.answer = lambda command: None
    remedy = order(operator, host).json()
    wait_for(operator, eventually, remedy, "dispatched")
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
    wait_for(operator, eventually, remedy, "applied")
    assert agent.commands[1] == first
    agent.send_result({"command_id": first["command_id"], "state": "failed", "operations": []})  # a contradiction later changes nothing
    time.sleep(0.5)
    assert operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "applied"


def test_an_agent_cannot_answer_for_another_host(
    operator: httpx.Client, fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, agent: Any, host: str
) -> None:
    agent.answer = lambda command: None
    remedy = order(operator, host).json()
    with fake_agents.enrol(admin, anonymous, f"{host}-evil") as other:
        deadline = time.monotonic() + 5
        while not agent.commands and time.monotonic() < deadline:
            time.sleep(0.05)
        other.send_result({"command_id": agent.commands[0]["command_id"], "state": "done", "operations": []})
        time.sleep(0.5)
    assert operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "dispatched"


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
        ({"action": "cordon-rnic", "params": {"reason": "x", "pci": "0000:01:00.0"}}, "bad_parameter", "same"),
        ({"action": "cordon-rnic", "pci": None, "params": {"reason": "x"}}, "bad_parameter", "missing"),
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
    wait_for(operator, eventually, first, "applied")
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


def test_a_cordon_is_verified_by_the_agents_report_and_shown_until_it_is_undone(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    write_ratio(backend, host, [])
    body = {"action": "cordon-rnic", "params": {"reason": "S7 suspected"}}
    remedy = wait_for(operator, eventually, order(operator, host, **body).json(), "verified")
    assert remedy["params"] == {"pci": PCI, "reason": "S7 suspected"}
    assert remedy["verification"]["measured"] == 1
    assert operator.get(f"/api/v1/rnics/{host}/{PCI}").json()["cordoned"] is True
    operator.post(f"/api/v1/remedies/{remedy['id']}/undo")
    wait_for(operator, eventually, remedy, "undone")
    assert operator.get(f"/api/v1/rnics/{host}/{PCI}").json()["cordoned"] is False


def test_the_incident_tells_what_was_done_for_it(
    operator: httpx.Client, backend: Any, agent: Any, host: str, findings: Any, eventually: Any
) -> None:
    findings.send(findings.finding(host=host, started=datetime.now(UTC)))
    incident = eventually(lambda: operator.get("/api/v1/incidents", params={"host": host}).json()["items"])[0]
    remedy = order(operator, host, incident_id=incident["id"]).json()
    wait_for(operator, eventually, remedy, "applied")
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
