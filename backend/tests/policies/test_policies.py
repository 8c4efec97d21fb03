"""Operators' own policies: drafts, versions, delivery, and who may do what."""

from typing import Any
from uuid import uuid4

import httpx
import orjson
import pytest
from opentelemetry._opamp.proto import opamp_pb2

API = "/api/v1/policies"
TAKES_CONFIG = 1 | int(opamp_pb2.AgentCapabilities_AcceptsRemoteConfig)


def definition(**more: Any) -> dict[str, Any]:
    return {
        "title": "A port that went down comes up before its RNIC vanishes",
        "formula": "G(DOWN -> X(!GONE W UP))",
        "subject": "rnic",
        "propositions": {"DOWN": {"kind": ["port_down"]}, "UP": {"kind": ["port_up"]}, "GONE": {"kind": ["device_vanished"]}},
        "severity": "warning",
        "violation": "The RNIC vanished while its port was down.",
        **more,
    }


@pytest.fixture
def name() -> str:
    """A name that no other test has."""
    return f"own-{uuid4().hex[:8]}"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("POST", ""),
        ("GET", "/delivery"),
        ("GET", "/vocabulary"),
        ("GET", "/rnic-heartbeat"),
        ("PUT", "/x1"),
        ("DELETE", "/x1"),
        ("POST", "/x1/enable"),
        ("POST", "/x1/disable"),
        ("GET", "/x1/series"),
        ("GET", "/x1/violations"),
        ("POST", "/check"),
        ("POST", "/run"),
        ("POST", "/backtest"),
    ],
)
def test_requests_without_a_session_are_refused(anonymous: httpx.Client, method: str, path: str) -> None:
    assert anonymous.request(method, f"{API}{path}", json={}).status_code == 401


def test_a_viewer_reads_and_tries_out_and_changes_nothing(viewer: httpx.Client, name: str) -> None:
    assert viewer.post(API, json={"id": name, **definition()}).status_code == 403
    assert viewer.post(f"{API}/rnic-heartbeat/disable").status_code == 403
    assert viewer.post(f"{API}/check", json=definition()).json()["problems"] == []


def test_the_list_has_the_catalogues_policies_with_their_state(viewer: httpx.Client) -> None:
    found = {policy["id"]: policy for policy in viewer.get(API).json()["items"]}
    heartbeat = found["rnic-heartbeat"]
    assert (heartbeat["own"], heartbeat["lifecycle"], heartbeat["running"], heartbeat["state"]) == (False, "enabled", 0, "unknown")
    one = viewer.get(f"{API}/rnic-heartbeat").json()
    assert (one["definition"]["propositions"], one["versions"]) == ({"HEALTH_MISS": {"kind": ["device_health"], "when": {}}}, [])
    assert viewer.get(f"{API}/no-such").json()["code"] == "not_found"


def test_a_policy_goes_from_draft_to_enabled_and_each_step_is_recorded(operator: httpx.Client, admin: httpx.Client, name: str) -> None:
    made = operator.post(API, json={"id": name, **definition()})
    assert made.status_code == 201, made.text
    draft = made.json()
    assert (draft["lifecycle"], draft["state"], draft["has_draft"], draft["running"]) == ("draft", "off", True, None)
    enabled = operator.post(f"{API}/{name}/enable", headers={"If-Match": made.headers["etag"]})
    assert (enabled.json()["lifecycle"], enabled.json()["running"], enabled.json()["draft"]) == ("enabled", 1, None)
    changed = operator.put(f"{API}/{name}", json=definition(severity="critical", message="It is worse than we thought"))
    assert (changed.json()["running"], changed.json()["has_draft"]) == (1, True)
    assert changed.json()["severity"] == "warning", "what is enabled stays as it was"
    assert (changed.json()["draft"]["number"], changed.json()["draft"]["definition"]["severity"]) == (2, "critical")
    assert operator.put(f"{API}/{name}", json=definition(), headers={"If-Match": made.headers["etag"]}).status_code == 412
    operator.put(f"{API}/{name}", json=definition(severity="critical", title="Renamed"))
    second = operator.post(f"{API}/{name}/enable").json()
    assert (second["running"], second["title"], len(second["versions"])) == (2, "Renamed", 2)
    assert second["versions"][0]["note"] == "It is worse than we thought", "a draft is changed in place"
    back = operator.post(f"{API}/{name}/enable", json={"version": 1}).json()
    assert (back["running"], back["severity"]) == (1, "warning")
    off = operator.post(f"{API}/{name}/disable").json()
    assert (off["lifecycle"], off["state"]) == ("disabled", "off")
    actions = [entry["action"] for entry in off["history"]]
    assert actions == [f"policy.{what}" for what in ("disable", "enable", "enable", "edit", "edit", "enable", "create")]
    assert [e["target"] for e in admin.get("/api/v1/audit", params={"action": "policy.", "limit": 1}).json()["items"]] == [name]


def test_only_a_draft_can_be_deleted(operator: httpx.Client, name: str) -> None:
    operator.post(API, json={"id": name, **definition()})
    operator.post(f"{API}/{name}/enable")
    assert operator.delete(f"{API}/{name}").json()["code"] == "no_draft"
    operator.put(f"{API}/{name}", json=definition(title="Second"))
    assert operator.delete(f"{API}/{name}").status_code == 204
    assert [v["number"] for v in operator.get(f"{API}/{name}").json()["versions"]] == [1]
    operator.post(API, json={"id": f"{name}-b", **definition()})
    assert operator.delete(f"{API}/{name}-b").status_code == 204
    assert operator.get(f"{API}/{name}-b").status_code == 404


def test_a_policy_of_the_catalogue_is_switched_but_not_changed(operator: httpx.Client) -> None:
    path = f"{API}/host-cpus-run"
    assert operator.put(path, json=definition()).json()["code"] == "policy_of_catalogue"
    assert operator.delete(path).json()["code"] == "policy_of_catalogue"
    assert operator.post(API, json={"id": "host-cpus-run", **definition()}).json()["code"] == "policy_exists"
    assert operator.post(f"{path}/disable", headers={"If-Match": '"0"'}).json()["lifecycle"] == "disabled"
    assert operator.post(f"{path}/disable", headers={"If-Match": '"0"'}).status_code == 412
    assert operator.post(f"{path}/enable").json()["lifecycle"] == "enabled"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"formula": "G(DOWN -> "}, "at character 10"),
        ({"formula": "G(DOWN -> X UPP)"}, "no event sets UPP yet"),
        ({"formula": "F DOWN"}, "timeout event"),
        ({"formula": "DOWN | !DOWN"}, "Nothing can violate it"),
        ({"subject": "flow"}, "has no flow as subject"),
        ({"propositions": {"DOWN": {"kind": ["earthquake"]}}, "formula": "G !DOWN"}, "unknown kind of event"),
        ({"timer": {"name": "LATE", "after": "NEVER", "seconds": 5}}, "NEVER"),
        ({"formula": " & ".join(f"G(A{i} -> X B)" for i in range(9))}, "no event sets"),
    ],
)
def test_a_policy_that_could_not_run_is_refused_with_the_reason(
    operator: httpx.Client, name: str, wrong: dict[str, Any], reason: str
) -> None:
    answer = operator.post(API, json={"id": name, **definition(**wrong)})
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_policy")
    assert reason in answer.json()["detail"]


def test_enabled_policies_reach_connected_agents_and_the_answers_are_counted(
    operator: httpx.Client, admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, eventually: Any, name: str
) -> None:
    def offers(agent: Any) -> list[Any]:
        return [reply.remote_config for reply in agent.replies if reply.HasField("remote_config")]

    def answer(agent: Any, remote: Any, error: str = "") -> None:
        message = opamp_pb2.AgentToServer(capabilities=TAKES_CONFIG)
        message.remote_config_status.last_remote_config_hash = remote.config_hash
        failed, applied = opamp_pb2.RemoteConfigStatuses_FAILED, opamp_pb2.RemoteConfigStatuses_APPLIED
        message.remote_config_status.status = failed if error else applied
        message.remote_config_status.error_message = error
        agent.send(message)

    def ids(remote: Any) -> set[str]:
        return {policy["id"] for policy in orjson.loads(remote.config.config_map["policies.json"].body)["policies"]}

    operator.post(API, json={"id": name, **definition()})
    with fake_agents.enrol(admin, anonymous, f"host-of-{name}") as agent:
        agent.say_hello(capabilities=TAKES_CONFIG)
        eventually(lambda: offers(agent))
        answer(agent, offers(agent)[0])
        eventually(lambda: operator.get(f"{API}/delivery").json()["applied"] == 1)
        assert name not in ids(offers(agent)[0])
        operator.post(f"{API}/{name}/enable")
        eventually(lambda: len(offers(agent)) == 2)
        assert name in ids(offers(agent)[1])
        assert operator.get(f"{API}/{name}").json()["agents_running"] == 0
        answer(agent, offers(agent)[1])
        eventually(lambda: operator.get(f"{API}/{name}").json()["agents_running"] == 1)
        assert operator.get(f"{API}/{name}").json()["versions"][0]["agents"] == 1
        operator.post(f"{API}/host-switch-answers/disable")
        eventually(lambda: len(offers(agent)) == 3)
        assert "host-switch-answers" not in ids(offers(agent)[2])
        answer(agent, offers(agent)[2], "a table leads to state 9 of 3")
        eventually(lambda: operator.get(f"{API}/delivery").json()["refused"] == 1)
        delivery = operator.get(f"{API}/delivery").json()
        assert [(r["host"], r["reason"]) for r in delivery["refusals"]] == [(f"host-of-{name}", "a table leads to state 9 of 3")]
        assert (delivery["applied"], delivery["left_out"]) == (0, [])
        assert operator.get(f"{API}/{name}").json()["agents_running"] == 1, "those before stay"
    operator.post(f"{API}/host-switch-answers/enable")
    operator.post(f"{API}/{name}/disable")
