"""Automatic mode with mask plans: a rule creates one, proves it, tries it, applies it, and undoes what telemetry does not confirm."""

import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_testing.mask_plan_host import COLD, HOT, LONG_CHAIN, PCI, Host, predict_decline, write_queries

RULE = {
    "name": "S6: put the hot masks in front",
    "action": "apply-mask-plan",
    "matchers": [{"name": "symptom", "op": "=", "value": "S6"}],
}
DECLINE = {**RULE, "name": "before it gets slow", "trigger": "decline"}


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"plan_read_s": 0, "remedy_max_fleet_percent": 100, "remedy_breaker_failures": 1000, "remedy_watch_s": 0.1}


@pytest.fixture(autouse=True)
def nothing_under_way(backend: Any) -> Iterator[None]:
    yield
    with backend.connect() as connection:
        for table in ("automation_rule", "mask_plan", "remedy", "incident", "rnic_forecast", "remedy_stop"):
            connection.execute(f"DELETE FROM {table}")


@pytest.fixture
def host(fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, backend: Any, eventually: Any) -> Iterator[Any]:
    """A host with a chain so long that a plan is worth it."""
    name = f"host-{uuid4().hex[:8]}"
    with backend.connect() as connection:
        connection.execute("INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, 'r1', 'CX-6')", [name, PCI])
    flows = Host(LONG_CHAIN)
    with fake_agents.enrol(admin, anonymous, name, flows.answer) as agent:
        flows.agent = agent
        eventually(lambda: [one for one in admin.get("/api/v1/agents", params={"host": name}).json()["items"] if one["connected"]])
        yield flows


def switched_on(admin: httpx.Client, host: Any, rule: dict[str, Any]) -> dict[str, Any]:
    """The rule, for this host alone."""
    matchers = [*(one for one in rule["matchers"] if "trigger" not in rule), {"name": "host", "op": "=", "value": host.agent.host}]
    answer = admin.post("/api/v1/automation-rules", json={**rule, "matchers": matchers})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = admin.post(f"/api/v1/automation-rules/{answer.json()['id']}/enable").json()
    return made


def run_in(client: httpx.Client, rule: dict[str, Any], eventually: Any, *states: str) -> dict[str, Any]:
    path = f"/api/v1/automation-rules/{rule['id']}/runs"
    (run,) = eventually(
        lambda: [one for one in client.get(path).json()["items"] if one["state"] in states or one["ended_at"]], timeout_s=120
    )
    assert run["state"] in states, run
    return dict(run)


def orders(host: Any) -> list[str]:
    return [f"{command['action']} {command['operation']}" for command in host.agent.commands]


def begin(apply_findings: Any, findings: Any, host: Any) -> datetime:
    """An S6 of the host; returns when it started."""
    started = datetime.now().astimezone() - timedelta(minutes=1)
    apply_findings(findings.finding("S6", started=started, host=host.agent.host, pci=PCI))
    return started


def predict(backend: Any, host: Any) -> None:
    with backend.connect() as connection:
        predict_decline(connection, host.agent.host)


def test_a_slow_rnic_gets_a_plan_that_is_proven_tried_applied_and_verified_without_a_click(
    admin: httpx.Client, viewer: httpx.Client, backend: Any, host: Any, apply_findings: Any, findings: Any, eventually: Any
) -> None:
    rule = switched_on(admin, host, RULE)
    started = begin(apply_findings, findings, host)
    run = run_in(viewer, rule, eventually, "applying")
    remedy = eventually(lambda: (r := viewer.get(f"/api/v1/remedies/{run['remedy_id']}").json())["state"] == "verifying" and r)
    assert orders(host) == ["read-flows dry_run", "apply-mask-plan dry_run", "apply-mask-plan apply"]
    assert remedy["params"]["plan"] == run["plan_id"]
    at = datetime.fromisoformat(remedy["commands"][0]["finished_at"])
    before = viewer.get(f"/api/v1/plans/{run['plan_id']}").json()["report"]["chains"]["egress"]["queries_before"]
    samples = [(at - timedelta(seconds=30), before), *((at + timedelta(seconds=10 * i), 0.1) for i in (1, 2, 3))]
    write_queries(backend, host.agent.host, samples)
    cleared = findings.finding("S6", started=started, after_s=120, state="cleared", host=host.agent.host, pci=PCI)
    apply_findings(cleared)
    run = run_in(viewer, rule, eventually, "confirmed")
    assert [step["state"] for step in run["steps"]] == ["planning", "planning", "applying", "confirmed"]
    assert (run["steps"][0]["plan_id"], run["steps"][2]["remedy_id"]) == (run["plan_id"], run["remedy_id"])
    plan = viewer.get(f"/api/v1/plans/{run['plan_id']}").json()
    assert (plan["trigger"], plan["requested_by"], plan["incident_id"]) == ("policy", f"automation:{RULE['name']}", run["incident_id"])


def test_a_plan_that_telemetry_does_not_confirm_is_undone(
    admin: httpx.Client, viewer: httpx.Client, backend: Any, host: Any, eventually: Any
) -> None:
    predict(backend, host)
    rule = switched_on(admin, host, DECLINE)
    run = run_in(viewer, rule, eventually, "applying")
    assert (run["finding_id"], run["incident_id"]) == (None, None)
    remedy = eventually(lambda: (r := viewer.get(f"/api/v1/remedies/{run['remedy_id']}").json())["state"] == "verifying" and r)
    write_queries(backend, host.agent.host, [(datetime.fromisoformat(remedy["commands"][0]["finished_at"]) + timedelta(seconds=1), 30.0)])
    with backend.connect() as connection:
        passed = datetime.now().astimezone() - timedelta(minutes=5)
        deadline_passed = "UPDATE remedy SET effect = effect || jsonb_build_object('deadline', %s::text) WHERE id = %s"
        connection.execute(deadline_passed, [passed.isoformat(), remedy["id"]])
    run = run_in(viewer, rule, eventually, "undone")
    assert orders(host)[-1] == "apply-mask-plan undo"
    assert "It did not work" in run["message"]


def test_a_predicted_decline_is_met_only_where_the_rule_says_and_while_it_is_predicted(
    admin: httpx.Client, viewer: httpx.Client, backend: Any, host: Any, eventually: Any
) -> None:
    body = {**DECLINE, "matchers": [{"name": "rack", "op": "=", "value": "r1"}]}
    assert admin.post("/api/v1/automation-rules/preview", json=body).json()["total"] == 0
    predict(backend, host)
    assert admin.post("/api/v1/automation-rules/preview", json=body).json()["places"] == [f"{host.agent.host} {PCI}"]
    host.hold.clear()
    rule = switched_on(admin, host, DECLINE)
    run_in(viewer, rule, eventually, "planning")
    with backend.connect() as connection:
        connection.execute("UPDATE rnic_forecast SET decline_since = NULL")
    host.hold.set()
    run = run_in(viewer, rule, eventually, "gave_up")
    assert (run["message"], orders(host)) == ("The decline is no longer predicted.", ["read-flows dry_run"])


def test_a_plan_without_benefit_or_that_cannot_be_computed_is_not_applied(
    admin: httpx.Client, viewer: httpx.Client, backend: Any, host: Any, eventually: Any
) -> None:
    predict(backend, host)
    host.lines = [*HOT, *COLD]
    run = run_in(viewer, switched_on(admin, host, DECLINE), eventually, "gave_up")
    assert "nothing moves" in run["message"]
    host.lines = ["in_port(3),eth_type(0x0800),ipv4(dst=10.0.0.0/33), packets:1, actions:5"]
    run = run_in(viewer, switched_on(admin, host, {**DECLINE, "name": "unreadable"}), eventually, "gave_up")
    assert "There is no mask plan" in run["message"]
    assert set(orders(host)) == {"read-flows dry_run"}


def test_a_plan_that_became_stale_while_it_waited_is_computed_again(
    admin: httpx.Client, operator: httpx.Client, viewer: httpx.Client, backend: Any, host: Any, eventually: Any
) -> None:
    predict(backend, host)
    stopped = threading.Event()
    host.agent.answer = lambda command: host.answer(command) if command["action"] == "read-flows" or stopped.wait(90) else None
    rule = switched_on(admin, host, DECLINE)
    eventually(lambda: "apply-mask-plan dry_run" in orders(host))
    assert operator.post("/api/v1/remedy-control/stop", json={"reason": "a look first"}).status_code < 300
    stopped.set()
    first = run_in(viewer, rule, eventually, "waiting")
    with backend.connect() as connection:
        connection.execute("UPDATE mask_plan SET expires_at = now() - interval '1 s'")
    again = eventually(lambda: (r := run_in(viewer, rule, eventually, "planning", "waiting"))["plan_id"] != first["plan_id"] and r)
    assert sum(step["plan_id"] is not None for step in again["steps"]) == 2
    assert admin.post("/api/v1/remedy-control/resume").status_code < 300
    run_in(viewer, rule, eventually, "applying")
