"""A mask plan's life: flows read by the agent, planned and proven, applied as a remedy, proven again, judged by telemetry."""

import asyncio
import gzip
import hashlib
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.kit.database import Database
from wallwatch_backend.remedies.plans import declines
from wallwatch_testing.mask_plan_host import COLD, HOT, PCI, Host, attached, flow, write_queries


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {
        "plan_read_s": 0,
        "remedy_max_fleet_percent": 100,
        "remedy_approval_risk": "never",
        "remedy_breaker_failures": 1000,
        "remedy_watch_s": 0.2,
    }


@pytest.fixture
def host(fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, backend: Any) -> Iterator[Any]:
    name = f"host-{uuid4().hex[:8]}"
    with backend.connect() as connection:
        connection.execute("INSERT INTO rnic (host, pci, model) VALUES (%s, %s, 'CX-6')", [name, PCI])
    flows = Host(COLD + HOT)
    with fake_agents.enrol(admin, anonymous, name, flows.answer) as agent:
        flows.agent = agent
        yield flows


def make(client: httpx.Client, host: Any, eventually: Any, **more: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/plans", json={"host": host.agent.host, "pci": PCI, **more})
    assert answer.status_code == 201, answer.text
    assert answer.json()["state"] == "reading"
    path = f"/api/v1/plans/{answer.json()['id']}"
    made: dict[str, Any] = eventually(lambda: (p := client.get(path).json())["state"] not in ("reading", "planning") and p)
    return made


def order(client: httpx.Client, host: Any, plan: dict[str, Any], mode: str = "apply") -> httpx.Response:
    body = {"action": "apply-mask-plan", "host": host.agent.host, "pci": PCI, "params": {"plan": plan["id"]}, "mode": mode}
    return client.post("/api/v1/remedies", json=body)


def test_a_plan_is_computed_from_the_flows_that_the_agent_reads(
    operator: httpx.Client, viewer: httpx.Client, host: Any, eventually: Any
) -> None:
    plan = make(operator, host, eventually)
    assert (plan["state"], plan["offered"], plan["code"], plan["model"]) == ("ready", True, None, "CX-6")
    report = plan["report"]
    assert report["proof"]["equivalent"]
    assert report["expected"]["after"]["q_l"] < report["expected"]["before"]["q_l"] == pytest.approx(2.0, abs=0.01)
    assert plan["ports"] == [{"number": "3", "name": "p0_0"}]
    assert plan["flows_sha256"] == hashlib.sha256("\n".join(host.lines).encode()).hexdigest()
    steps = viewer.get(f"/api/v1/plans/{plan['id']}/operations")
    assert steps.text.startswith("dpctl/del-flow 'ufid:")
    assert len(steps.text.splitlines()) == sum(report["steps"].values()) == report["cost"]["operations"]
    listed = viewer.get("/api/v1/plans", params={"host": host.agent.host}).json()["items"]
    assert [(one["id"], one["bandwidth_gain"]) for one in listed] == [(plan["id"], report["expected"]["bandwidth_gain"])]
    assert operator.get("/api/v1/remedies", params={"host": host.agent.host}).json()["items"] == []


def test_a_plan_is_applied_with_the_operations_that_were_signed_and_proven_again_afterwards(
    operator: httpx.Client, backend: Any, host: Any, eventually: Any
) -> None:
    plan = make(operator, host, eventually)
    path = f"/api/v1/plans/{plan['id']}"
    host.after = [*HOT, *COLD]
    remedy = order(operator, host, plan).json()
    assert remedy["params"]["operations_sha256"] == plan["operations_sha256"]
    applied = eventually(lambda: (r := operator.get(f"/api/v1/remedies/{remedy['id']}").json())["state"] == "verifying" and r)
    header, content = host.agent.attachments[0]
    assert hashlib.sha256(content).hexdigest() == header["sha256"] == plan["operations_sha256"]
    sent = json.loads(gzip.decompress(content))
    assert (sent["plan"], sent["host"], sent["pci"]) == (plan["id"], host.agent.host, PCI)
    assert host.agent.commands[-1]["params"] == {"pci": PCI, "plan": plan["id"], "operations_sha256": plan["operations_sha256"]}
    checked = eventually(lambda: (p := operator.get(path).json())["check"]["state"] == "equivalent" and p)
    assert (checked["check"]["missing"], checked["check"]["operation"]) == (0, "apply")
    assert (checked["applied_by"], checked["remedies"], checked["offered"]) == (remedy["id"], [remedy["id"]], False)
    again = order(operator, host, plan)
    assert (again.status_code, again.json()["code"]) in {(409, "plan_used"), (409, "remedy_in_progress")}

    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_queries(
        backend, host.agent.host, [(at - timedelta(seconds=30), 2.0), *((at + timedelta(seconds=10 * i), 0.1) for i in (1, 2, 3))]
    )
    verified = eventually(lambda: (r := operator.get(f"/api/v1/remedies/{remedy['id']}").json())["state"] == "confirmed" and r)
    assert verified["effect"]["signal"] == "planned_fall_share"
    assert verified["effect"]["measured"] == pytest.approx(0.95, abs=0.06)
    outcome = operator.get(path).json()["outcome"]
    assert (outcome["q_l"]["before"], outcome["q_l"]["measured"]) == (2.0, pytest.approx(0.1))

    assert operator.post(f"/api/v1/remedies/{remedy['id']}/undo").status_code == 202
    eventually(lambda: operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "undone")
    assert host.agent.attachments[1:] == []  # an undo rests on what the agent has kept
    eventually(lambda: operator.get(path).json()["check"]["operation"] == "undo")


def test_a_dry_run_is_of_a_plan_too_and_does_not_use_it_up(operator: httpx.Client, host: Any, eventually: Any) -> None:
    plan = make(operator, host, eventually)
    remedy = order(operator, host, plan, "dry_run").json()
    eventually(lambda: operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "planned")
    assert len(host.agent.attachments) == 1
    assert operator.get(f"/api/v1/plans/{plan['id']}").json()["offered"] is True


def test_flows_that_behave_differently_afterwards_are_reported_with_a_packet(operator: httpx.Client, host: Any, eventually: Any) -> None:
    plan = make(operator, host, eventually)
    host.progress, host.after = True, [*COLD, flow(7, "10.7.1.1", 1, actions="6"), *HOT[1:]]
    order(operator, host, plan)
    path = f"/api/v1/plans/{plan['id']}"
    check = eventually(lambda: (c := operator.get(path).json()["check"] or {}).get("state") == "different" and c)
    assert check["counterexample"]["packet"]["ipv4.dst"] == "10.7.1.1"
    assert "undo the plan" in check["message"]


@pytest.mark.parametrize(
    ("lines", "state", "code", "says"),
    [
        (["in_port(3),eth_type(0x0800),ipv4(dst=10.0.0.0/33), packets:1, actions:5"], "failed", "flows_unusable", "could not be read"),
        ([], "failed", "flows_unusable", "the dump has no flows"),
    ],
)
def test_flows_that_cannot_be_planned_end_with_the_reason(
    operator: httpx.Client, host: Any, eventually: Any, lines: list[str], state: str, code: str, says: str
) -> None:
    host.lines = lines
    plan = make(operator, host, eventually)
    assert (plan["state"], plan["code"], plan["offered"]) == (state, code, False)
    assert says in plan["message"]
    refused = order(operator, host, plan)
    assert (refused.status_code, refused.json()["code"]) == (409, "plan_not_ready")


def test_what_an_agent_attaches_is_not_believed(operator: httpx.Client, host: Any, eventually: Any) -> None:
    for sent, says in (
        (b"no gzip", "cannot be unpacked"),
        (attached(COLD, pci="0000:ff:00.0"), "the flows of"),
        (attached(COLD, at="x"), "form"),
    ):
        host.sent = sent
        plan = make(operator, host, eventually)
        assert (plan["state"], plan["code"]) == ("failed", "flows_unusable")
        assert says in plan["message"]


def test_a_plan_without_anything_to_do_is_not_applied(operator: httpx.Client, host: Any, eventually: Any) -> None:
    host.lines = HOT + COLD
    plan = make(operator, host, eventually, hyper_capacity=0)
    assert (plan["state"], plan["offered"], plan["code"]) == ("ready", False, "plan_empty")
    assert order(operator, host, plan).json()["code"] == "plan_empty"


def test_a_plan_that_is_too_old_or_not_proven_or_of_another_rnic_is_not_applied(
    operator: httpx.Client, backend: Any, host: Any, eventually: Any
) -> None:
    plan = make(operator, host, eventually)
    with backend.connect() as connection:
        connection.execute("UPDATE mask_plan SET expires_at = now() - interval '1 s' WHERE id = %s", [plan["id"]])
    expired = order(operator, host, plan)
    assert (expired.status_code, expired.json()["code"]) == (409, "plan_expired")
    with backend.connect() as connection:
        connection.execute(
            "UPDATE mask_plan SET state = 'not_proven', message = 'The packet ipv4.dst=10.7.1.1 ...' WHERE id = %s", [plan["id"]]
        )
    unproven = order(operator, host, plan).json()
    assert (unproven["code"], unproven["detail"]) == ("plan_not_proven", "The packet ipv4.dst=10.7.1.1 ...")
    body = {"action": "apply-mask-plan", "host": "elsewhere", "pci": PCI, "params": {"plan": plan["id"]}, "mode": "apply"}
    assert operator.post("/api/v1/remedies", json=body).json()["code"] == "plan_of_another_rnic"
    body["params"] = {"plan": "x"}
    assert operator.post("/api/v1/remedies", json=body).json()["code"] == "bad_parameter"


def test_a_worthwhile_plan_is_proposed_where_that_was_requested(operator: httpx.Client, host: Any, eventually: Any) -> None:
    for number in range(20, 50):  # a long chain in front, so that the gain is one that is noticed
        host.lines = [flow(number, f"10.{number}.0.0/255.{number}.0.0", 1), *host.lines]
    plan = make(operator, host, eventually, then="propose")
    assert plan["worthwhile"]
    path = f"/api/v1/plans/{plan['id']}"
    (remedy,) = eventually(lambda: operator.get(path).json()["remedies"])
    assert operator.get(f"/api/v1/remedies/{remedy}").json()["state"] == "pending"


def test_a_predicted_decline_creates_one_plan(operator: httpx.Client, backend: Any, host: Any, eventually: Any) -> None:
    with backend.connect() as connection:
        connection.execute(
            "INSERT INTO rnic_forecast (rnic_id, made_at, kept_at, cold_start, policy_violated, body, decline_share, decline_since)"
            " SELECT rnic_id, now(), now(), false, false, '{}', 0.2, now() FROM rnic WHERE host = %s",
            [host.agent.host],
        )
    asked = {"host": host.agent.host}
    eventually(lambda: [one for one in operator.get("/api/v1/agents", params=asked).json()["items"] if one["connected"]])

    async def twice() -> None:
        database, signer = Database(backend.settings), CommandSigner.load(backend.settings.secrets_dir)
        for _ in range(2):
            await declines.request_plans(database, backend.settings, signer)
        await database.dispose()

    asyncio.run(twice())
    (plan,) = operator.get("/api/v1/plans", params=asked).json()["items"]
    assert (plan["trigger"], plan["requested_by"], plan["then"]) == ("forecast", "wallwatch", "nothing")


def test_an_agent_that_cannot_read_and_one_that_loses_its_flows_end_the_plan(operator: httpx.Client, host: Any, eventually: Any) -> None:
    host.agent.answer = lambda c: {"command_id": c["command_id"], "state": "refused", "code": "precondition_failed", "message": "no port"}
    refused = make(operator, host, eventually)
    assert (refused["code"], "no port" in refused["message"]) == ("flows_not_read", True)
    host.agent.answer = lambda c: {"command_id": c["command_id"], "state": "done"}
    assert "lost on the way" in make(operator, host, eventually)["message"]


def test_a_rollout_of_a_plan_is_refused_with_the_way_to_go(operator: httpx.Client, host: Any) -> None:
    target = {"host": host.agent.host, "pci": PCI}
    body = {"action": "apply-mask-plan", "params": {"plan": str(uuid4())}, "targets": [target], "reason": "x"}
    answer = operator.post("/api/v1/rollouts", json=body)
    assert (answer.status_code, "POST /api/v1/plans" in answer.json()["detail"]) == (422, True)


def test_an_rnic_that_cannot_be_planned_is_refused_at_once(operator: httpx.Client, backend: Any, host: Any) -> None:
    def refused(**body: Any) -> tuple[int, str]:
        answer = operator.post("/api/v1/plans", json={"host": host.agent.host, "pci": PCI, **body})
        return answer.status_code, answer.json()["code"]

    with backend.connect() as connection:
        connection.execute("INSERT INTO rnic (host, pci, model) VALUES ('no-agent', %s, 'CX-6'), ('odd', %s, 'CX-99')", [PCI, PCI])
    assert refused(pci="0000:ff:00.0") == (404, "not_found")
    assert refused(host="no-agent") == (409, "no_agent")
    assert refused(host="odd") == (422, "model_unknown")
    assert refused(incident_id=str(uuid4())) == (422, "unknown_incident")
    host.agent.answer = lambda _: None
    assert operator.post("/api/v1/plans", json={"host": host.agent.host, "pci": PCI}).status_code == 201
    assert refused() == (409, "plan_in_progress")
