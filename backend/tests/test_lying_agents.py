"""Agents that lie, and a token that was stolen: none gets its way, and the audit log tells of it."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

PCI = "0000:3b:00.0"


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"remedy_max_fleet_percent": 100}


@pytest.fixture
def host() -> str:
    return f"host-{uuid4().hex[:8]}"


def refusals(admin: httpx.Client, host: str, action: str) -> list[dict[str, Any]]:
    entries = admin.get("/api/v1/audit", params={"actor": f"agent:{host}", "action": action}).json()["items"]
    return [entry["detail"] for entry in entries if entry["outcome"] == "refused"]


def test_results_that_no_honest_agent_sends_change_nothing_and_are_audited_once(
    admin: httpx.Client, operator: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, eventually: Any
) -> None:
    victim = fake_agents.enrol(admin, anonymous, f"{host}-victim", answer=lambda command: None)
    with victim, fake_agents.enrol(admin, anonymous, host) as liar:
        order = {"action": "tune-revalidator", "host": victim.host, "params": {"max_idle_ms": 60000}, "mode": "apply"}
        remedy = operator.post("/api/v1/remedies", json=order).json()
        eventually(lambda: victim.commands)
        for _ in range(3):
            liar.send_result({"command_id": victim.commands[0]["command_id"], "state": "done", "operations": []})
            liar.send_result({"command_id": str(uuid4()), "state": "done", "operations": []})
            liar.send_result({"command_id": "x", "state": "verified"})
            liar.send_result({"command_id": str(uuid4()), "state": "refused", "code": "bad_signature"})
            liar.send_result({"command_id": "", "remedy_id": "", "state": "refused", "code": "malformed"})
        eventually(lambda: len(refusals(admin, host, "agent.result")) == 4)
        planned = operator.post("/api/v1/remedies", json={**order, "host": host, "mode": "dry_run"}).json()
        eventually(lambda: operator.get(f"/api/v1/remedies/{planned['id']}").json()["state"] == "planned")
        # All that names a command is acknowledged, or it would be sent again for a day.
        eventually(lambda: len([reply for reply in liar.replies if reply.custom_message.type == "ack"]) == 10)
    assert {detail["reason"] for detail in refusals(admin, host, "agent.result")} == {
        "unknown_command",
        "malformed_result",
        "rejected_bad_signature",
        "rejected_malformed",
    }
    assert operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "dispatched"


def test_an_agent_cannot_answer_a_proposal_that_was_never_sent(
    admin: httpx.Client, operator: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, host) as liar:
        order = {"action": "recover-health-reporter", "host": host, "pci": PCI, "params": {"reporter": "fw"}, "mode": "apply"}
        proposed = operator.post("/api/v1/remedies", json=order).json()
        liar.send_result({"command_id": proposed["id"], "remedy_id": proposed["id"], "state": "done", "operations": []})
        eventually(lambda: refusals(admin, host, "agent.result"))
    assert operator.get(f"/api/v1/remedies/{proposed['id']}").json()["state"] == "proposed"


def test_a_stolen_token_is_noticed_by_its_owner_and_its_thief_locked_out(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str
) -> None:
    token = admin.post("/api/v1/agents/enrolment-tokens", json={"host": host}).json()["token"]
    body = {"token": token, "host": host, "version": "1", "instance_uid": str(uuid4())}
    thief = fake_agents(anonymous.post("/api/v1/agents/enrol", json=body).json(), host)
    assert anonymous.post("/api/v1/agents/enrol", json=body).json()["code"] == "bad_enrolment_token"
    assert [detail["reason"] for detail in refusals(admin, host, "agent.enrol")] == ["bad_enrolment_token"]
    with fake_agents.enrol(admin, anonymous, host), pytest.raises(InvalidStatus):
        connect(thief.credentials["opamp_url"], additional_headers={"Authorization": thief.authorization})
