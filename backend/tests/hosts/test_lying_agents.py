"""Agents that lie, and a token that was stolen: none succeeds, and the audit log records it."""

import gzip
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import httpx
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from wallwatch_backend.hosts.connections import abuse, framing
from wallwatch_backend.remedies.orders.results import AgentResult
from wallwatch_backend.remedies.plans import agent_uploads, planning_process

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
            liar.send_result({"command_id": "x", "state": "confirmed"})
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
    assert operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "running"


def test_an_agent_cannot_answer_a_proposal_that_was_never_sent(
    admin: httpx.Client, operator: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, host) as liar:
        order = {"action": "recover-health-reporter", "host": host, "pci": PCI, "params": {"reporter": "fw"}, "mode": "apply"}
        proposed = operator.post("/api/v1/remedies", json=order).json()
        liar.send_result({"command_id": proposed["id"], "remedy_id": proposed["id"], "state": "done", "operations": []})
        eventually(lambda: refusals(admin, host, "agent.result"))
    assert operator.get(f"/api/v1/remedies/{proposed['id']}").json()["state"] == "pending"


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
    assert [detail["reason"] for detail in refusals(admin, host, "agent.connect")] == ["bad_agent_credentials"]


@pytest.fixture
def requested(operator: httpx.Client, eventually: Any) -> Any:
    """A function that requests a remedy from an agent that answers nothing by itself; returns the remedy and its command."""

    def request(agent: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        before = len(agent.commands)
        body = {"action": "tune-revalidator", "host": agent.host, "params": {"max_idle_ms": 60000}, "mode": "apply"}
        remedy = operator.post("/api/v1/remedies", json=body).json()
        eventually(lambda: len(agent.commands) > before)
        return remedy, agent.commands[-1]

    return request


def test_what_contradicts_an_earlier_result_or_names_another_remedy_changes_nothing(
    admin: httpx.Client, operator: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, requested: Any, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, host, answer=lambda command: None) as liar:
        remedy, command = requested(liar)
        path = f"/api/v1/remedies/{remedy['id']}"
        liar.send_result({"command_id": command["command_id"], "remedy_id": str(uuid4()), "state": "done"})
        liar.send_result({"command_id": command["command_id"], "state": "failed", "code": "apply_failed", "message": "no"})
        liar.send_result({"command_id": command["command_id"], "state": "done"})
        liar.send_result({"command_id": command["command_id"], "state": "failed", "code": "apply_failed", "repeated": True})
        liar.send_custom("progress", orjson.dumps({"command_id": command["command_id"], "done": 1, "total": 2}))
        reasons = {"other_remedy", "contradicts", "unrequested_progress"}
        eventually(lambda: {detail["reason"] for detail in refusals(admin, host, "agent.result")} == reasons)
    assert (found := operator.get(path).json())["state"] == "failed", found


def test_a_rejection_settles_nothing_and_the_true_result_counts(
    admin: httpx.Client, operator: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, requested: Any, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, host, answer=lambda command: None) as agent:
        remedy, command = requested(agent)
        agent.send_result({"command_id": command["command_id"], "state": "refused", "code": "bad_signature"})
        eventually(lambda: refusals(admin, host, "agent.result"))
        assert operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "running"
        agent.send_result({"command_id": command["command_id"], "state": "failed", "code": "busy"})
        agent.send_result({"command_id": command["command_id"], "state": "done"})
        eventually(lambda: operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "verifying")


def test_telemetry_from_before_the_order_does_not_prove_what_an_agent_says_it_did_then(
    admin: httpx.Client, operator: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, requested: Any, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, host, answer=lambda command: None) as liar:
        remedy, command = requested(liar)
        liar.send_result({"command_id": command["command_id"], "state": "done", "finished_at": "0001-01-01T00:00:00+14:00"})
        found = eventually(lambda: (r := operator.get(f"/api/v1/remedies/{remedy['id']}").json())["state"] == "verifying" and r)
    assert found["commands"][0]["finished_at"] >= found["commands"][0]["issued_at"]
    assert found["change"]["deadline"] > found["created_at"]


def test_a_result_with_unstorable_text_is_stored(
    admin: httpx.Client, operator: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, requested: Any, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, host, answer=lambda command: None) as agent:
        remedy, command = requested(agent)
        operation = {"target": "a\0b", "operation": "set", "before": "\0", "after": None, "text": ""}
        agent.send_result(
            {"command_id": command["command_id"], "state": "failed", "message": "\0", "code": "\0", "operations": [operation]}
        )
        found = eventually(lambda: (r := operator.get(f"/api/v1/remedies/{remedy['id']}").json())["state"] == "failed" and r)
    assert found["operations"][0]["target"] == "a\N{REPLACEMENT CHARACTER}b"


def test_frames_that_no_agent_sends_are_answered_or_end_the_connection_and_are_audited(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, host) as liar:
        for frame in (b"", b"\x01", b"\x00\xff\xff\xff", b"\x00" * 1000, b"\x80" * 20, b"GET / HTTP/1.1\r\n\r\n"):
            liar.send_raw(frame)
        eventually(lambda: [reply for reply in liar.replies if reply.HasField("error_response")])
        liar.send_raw(b"\x00" + b"\n" * 1_000_001)
        liar._thread.join(60)
        assert not liar._thread.is_alive()
    with fake_agents(liar.credentials, host) as again:
        again.send_raw("text where OpAMP has bytes")
        again._thread.join(60)
        assert not again._thread.is_alive()
    assert {detail["reason"] for detail in refusals(admin, host, "agent.connect")} == {"malformed_frame", "oversized_frame"}


def test_an_agent_that_claims_another_host_is_audited(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, eventually: Any
) -> None:
    liar = fake_agents.enrol(admin, anonymous, host)
    liar.host = "host-of-another"
    with liar:
        detail = eventually(lambda: refusals(admin, host, "agent.connect"))[0]
    assert (detail["reason"], detail["claimed"]) == ("claims_other_host", "host-of-another")


def test_credentials_that_are_used_in_two_places_are_audited(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, host) as first, ExitStack() as stack:
        for _ in range(4):
            copy = stack.enter_context(fake_agents(first.credentials, host))
            eventually(lambda one=copy: one.replies)
        assert refusals(admin, host, "agent.connect") == [], "a network that breaks now and then looks like this too"
        stack.enter_context(fake_agents(first.credentials, host))
        assert eventually(lambda: refusals(admin, host, "agent.connect"))[0]["reason"] == "two_connections"


def test_a_flood_is_slowed_down_and_audited_and_nothing_of_it_is_lost(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, host: str, eventually: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(abuse, "_PER_S", 4)
    monkeypatch.setattr(abuse, "_BURST", 2)
    monkeypatch.setattr(abuse, "_FLOOD", 3)
    with fake_agents.enrol(admin, anonymous, host) as flood:
        for _ in range(10):
            flood.send_result({"command_id": str(uuid4()), "state": "done"})
        eventually(lambda: len([reply for reply in flood.replies if reply.custom_message.type == "ack"]) == 10)
    assert [detail["reason"] for detail in refusals(admin, host, "agent.connect")] == ["too_many_messages"]
    assert len(refusals(admin, host, "agent.result")) == 1


def packed(**changes: Any) -> bytes:
    flows = {"pci": PCI, "at": "2026-01-01T00:00:00Z", "elapsed_s": 1, "ports": [], "earlier": None, "flows": ""}
    return gzip.compress(orjson.dumps(flows | changes), mtime=0)


@pytest.mark.parametrize(
    "attachment",
    [
        b"",
        b"no gzip",
        packed()[:-9],
        packed()[:15] + b"\xff" * 20,
        gzip.compress(b"[" * 100_000, mtime=0),
        gzip.compress(bytes(planning_process.MOST_UNPACKED + 1), 1, mtime=0),
        packed(flows="\0"),
        packed(ports=[{"number": "1", "name": "\0"}]),
        packed(elapsed_s="inf"),
        packed(at="yesterday"),
    ],
    ids=["nothing", "no gzip", "cut off", "damaged", "deep", "a bomb", "NUL", "NUL in a name", "for ever", "no time"],
)
def test_flows_that_cannot_be_used_are_refused_with_a_reason(attachment: bytes) -> None:
    assert planning_process.unpacked(packed()).pci == PCI
    with pytest.raises(planning_process.FlowsUnusable):
        planning_process.unpacked(attachment)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
fields = st.sampled_from(["command_id", "remedy_id", "state", "code", "message", "repeated", "operations", "finished_at", "more"])
operations = st.lists(
    st.fixed_dictionaries({"target": st.text(), "operation": st.text(), "before": st.none() | st.text(), "text": st.text()})
)
answers = st.fixed_dictionaries(
    {"command_id": st.uuids().map(str) | st.just(""), "state": st.sampled_from(["done", "failed", "refused"])},
    optional={
        "code": st.text(max_size=101),
        "message": st.text(max_size=60),
        "operations": operations,
        "finished_at": st.datetimes().map(str),
    },
)


@given(st.binary(max_size=200) | st.dictionaries(fields, json_values).map(repr).map(str.encode) | answers.map(orjson.dumps))
def test_every_accepted_result_can_be_stored(data: bytes) -> None:
    try:
        result = AgentResult.model_validate_json(data)
    except ValidationError:
        return
    text = orjson.dumps(result.model_dump(mode="json")).decode()
    assert "\\u0000" not in text
    assert "\0" not in (result.code or "") + (result.message or "")


@given(st.binary(max_size=300))
def test_no_frame_stops_the_reader(frame: bytes) -> None:
    try:
        framing.decode(b"\0" + frame)
    except framing.BadFrame:
        return


@given(st.lists(st.binary(max_size=60) | st.tuples(json_values, st.binary(max_size=30)).map(lambda p: repr(p[0]).encode() + b"\n" + p[1])))
def test_no_attachment_stops_the_reader_or_fills_it(messages: list[bytes]) -> None:
    upload = agent_uploads.Upload()
    for message in messages:
        try:
            upload.add(message)
        except agent_uploads.BadAttachment:
            assert upload.header is None or upload.content is not None
    assert len(upload.content) <= sum(map(len, messages))
