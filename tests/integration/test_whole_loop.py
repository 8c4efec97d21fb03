"""The whole loop without a browser: counters of a simulated host, symptom, incident, remedy on the host, recovery, proof, webhook.

An operator dry-runs the remedy; an automation rule, which exists from the start and is enabled then, applies it.

One scenario (S1: an RNIC whose counters lag behind, so that live flows are aged out of it), one stack, the steps in order.
"""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from wallwatch_local import hosts
from wallwatch_testing import stack
from wallwatch_testing.stack import Stack, wait_for
from wallwatch_testing.webhook_receiver import Received, Receiver, receiving

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

HOST, PCI = "host01", "0000:17:00.0"
EVENTS = ["incident.opened", "incident.updated", "incident.resolved"]


@dataclass
class Loop:
    """The running stack, a signed-in client, a receiver of webhooks, and what earlier steps found."""

    stack: Stack
    api: httpx.Client
    receiver: Receiver
    secret: str
    incident_id: str = ""
    remedy_id: str = ""
    rule_id: str = ""

    def get(self, path: str) -> Any:
        answer = self.api.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def remedy(self, **request: Any) -> dict[str, Any]:
        answer = self.api.post("/remedies", json={"host": HOST, "pci": PCI, **request})
        assert answer.status_code == 201, answer.text
        created: dict[str, Any] = answer.json()
        return created

    def remedy_in(self, remedy_id: str, *states: str, timeout_s: float = 60) -> dict[str, Any]:
        """The remedy once it is in one of the states; any other final state fails at once."""

        def ask() -> dict[str, Any] | None:
            remedy: dict[str, Any] = self.get(f"/remedies/{remedy_id}")
            if remedy["state"] in states:
                return remedy
            assert remedy["state"] not in ("failed", "refused", "expired", "not_confirmed"), remedy
            return None

        found: dict[str, Any] = wait_for(f"remedy in state {' or '.join(states)}", ask, timeout_s)
        return found

    def delivered(self, event: str) -> Received:
        """The first delivery of this kind about the incident of the loop."""

        def ask() -> Received | None:
            sent = ((one, json.loads(one.body)) for one in self.receiver.received)
            return next((one for one, body in sent if body["type"] == event and body["data"]["id"] == self.incident_id), None)

        found: Received = wait_for(f"webhook {event}", ask, timeout_s=60)
        return found

    def max_idle(self) -> str | None:
        """`other_config:max-idle` in the host's real OVSDB."""
        return ovsdb_other_config(self.stack.layout.hosts / HOST).get("max-idle")


def ovsdb_other_config(host: Path) -> dict[str, str]:
    """Asks the host's ovsdb-server itself, not through anything of ours."""

    transaction = '["Open_vSwitch",{"op":"select","table":"Open_vSwitch","where":[],"columns":["other_config"]}]'
    # The client looks for relative sockets in this folder, not in its working directory.
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "OVS_RUNDIR": str(host)}
    command = ["ovsdb-client", "transact", "unix:ovs/db.sock", transaction]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout)[0]["rows"][0]["other_config"][1])


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loop]:
    if not stack.is_root():
        pytest.skip("the stack opens its own mounts: run as root")
    folder = tmp_path_factory.mktemp("loop")
    secrets: list[str] = []
    with receiving() as receiver:

        def subscribe(starting: Stack) -> None:
            with starting.api() as api:
                answer = api.post("/webhooks", json={"name": "test", "url": receiver.url, "events": EVENTS})
                assert answer.status_code == 201, answer.text
                secrets.append(answer.json()["secret"])

        with stack.start(folder, hosts.scenario_file("s1"), before_fleet=subscribe) as running, running.api() as api:
            yield Loop(running, api, receiver, secrets[0])


def test_1_the_fleet_has_every_rnic(loop: Loop) -> None:
    def complete() -> dict[str, Any] | None:
        fleet: dict[str, Any] = loop.get("/fleet")["columns"]
        return fleet if len(fleet["host"]) == 8 and None not in fleet["model"] and None not in fleet["headroom"] else None

    columns = wait_for("8 RNICs with model and headroom", complete, timeout_s=60)
    assert set(columns["host"]) == {"host01", "host02"}
    assert set(columns["model"]) == {"CX-6", "CX-7", "E810", "CX-5"}


def test_2_both_agents_are_connected_and_healthy(loop: Loop) -> None:
    def connected() -> bool:
        agents = loop.get("/agents")["items"]
        return {one["host"] for one in agents if one["connected"] and one["healthy"]} == {"host01", "host02"}

    wait_for("both agents", connected, timeout_s=60)


def test_2_a_rule_is_made_and_is_off(loop: Loop) -> None:
    rule = {
        "name": "S1: keep flows for longer",
        "action": "tune-revalidator",
        "params": {"max_idle_ms": 60000},
        "matchers": [{"name": "symptom", "op": "=", "value": "S1"}, {"name": "host", "op": "=", "value": HOST}],
    }
    made = loop.api.post("/automation-rules", json=rule)
    assert made.status_code == 201, made.text
    assert made.json()["enabled"] is False
    loop.rule_id = made.json()["id"]


def test_3_the_symptom_becomes_an_incident_that_names_the_cause_first(loop: Loop) -> None:
    def opened() -> dict[str, Any] | None:
        items = loop.get("/incidents")["items"]
        return next((one for one in items if (one["host"], one["pci"], one["symptom"]) == (HOST, PCI, "S1")), None)

    loop.incident_id = wait_for("an incident S1", opened, timeout_s=180)["id"]
    incident = loop.get(f"/incidents/{loop.incident_id}")
    assert incident["state"] == "open"
    assert incident["active"] is True
    # The scenario's truth: stale counters (C5) behind re-offloading (S1).
    assert incident["hypotheses"][0]["cause"] == "C5", incident["hypotheses"]
    posteriors = [one["posterior"] for one in incident["hypotheses"]]
    assert posteriors == sorted(posteriors, reverse=True)
    assert sum(posteriors) == pytest.approx(1, abs=0.02)
    assert "reoffload_ratio" in {one["signal"] for one in incident["evidence"]}
    assert "tune-revalidator" in {one["action"] for one in incident["remedies"]}

    def in_the_fleet() -> bool:  # by way of `ingest`, which may be some seconds behind the incident
        fleet = loop.get("/fleet")["columns"]
        marked = {(host, pci) for host, pci, found in zip(fleet["host"], fleet["pci"], fleet["symptoms"], strict=True) if "S1" in found}
        return marked == {(HOST, PCI)}

    wait_for("the symptom in the fleet", in_the_fleet, timeout_s=30)


def test_4_nothing_else_in_the_fleet_is_called_sick(loop: Loop) -> None:
    others = [one for one in loop.get("/incidents")["items"] if (one["host"], one["pci"]) != (HOST, PCI)]
    assert others == []


def test_5_the_opening_is_delivered_with_a_valid_signature(loop: Loop) -> None:
    received = loop.delivered("incident.opened")
    # Raises when the signature does not fit the body.
    body = Webhook(loop.secret).verify(received.body, received.headers)
    assert body["data"]["id"] == loop.incident_id
    with pytest.raises(Exception, match="signature"):
        Webhook(loop.secret).verify(received.body.replace(b"incident.opened", b"incident.reopened", 1), received.headers)


def test_6_a_dry_run_shows_the_operation_and_changes_nothing(loop: Loop) -> None:
    before = loop.max_idle()
    suggested = next(one for one in loop.get(f"/incidents/{loop.incident_id}")["remedies"] if one["action"] == "tune-revalidator")
    created = loop.remedy(action="tune-revalidator", params=suggested["params"], incident_id=loop.incident_id, mode="dry_run")
    planned = loop.remedy_in(created["id"], "planned")
    assert [one["after"] for one in planned["operations"]] == [str(suggested["params"]["max_idle_ms"])]
    assert loop.max_idle() == before


def test_7_switched_on_the_rule_brings_the_remedy_to_the_host_without_a_click(loop: Loop) -> None:
    assert loop.get(f"/automation-rules/{loop.rule_id}/runs")["items"] == []
    assert [one for one in loop.get("/remedies")["items"] if one["requested_by"].startswith("automation:")] == []
    assert loop.api.post(f"/automation-rules/{loop.rule_id}/enable").status_code == 200

    def requested_remedy() -> str | None:
        runs = loop.get(f"/automation-rules/{loop.rule_id}/runs")["items"]
        return runs[0]["remedy_id"] if runs else None

    loop.remedy_id = wait_for("the remedy of the rule", requested_remedy, timeout_s=60)
    loop.remedy_in(loop.remedy_id, "verifying", "confirmed")
    assert loop.max_idle() == "60000"


def test_8_telemetry_proves_that_it_worked(loop: Loop) -> None:
    remedy = loop.remedy_in(loop.remedy_id, "confirmed", timeout_s=300)
    effect = remedy["effect"]
    assert (effect["symptom"], effect["signal"]) == ("S1", "reoffload_ratio")
    assert effect["measured"] < 0.05 < effect["before"]
    assert remedy["change"]["confirmed_at"] is not None
    assert remedy["symptom"]["present"] is False

    def ended() -> dict[str, Any] | None:
        (run,) = loop.get(f"/automation-rules/{loop.rule_id}/runs")["items"]
        return run if run["ended_at"] else None

    run = wait_for("the end of the rule's run", ended, timeout_s=30)
    assert [step["state"] for step in run["steps"]] == ["planning", "applying", "confirmed"]
    assert loop.api.post(f"/automation-rules/{loop.rule_id}/disable").status_code == 200


def test_9_the_symptom_clears_and_the_incident_resolves(loop: Loop) -> None:
    def cleared() -> dict[str, Any] | None:
        incident: dict[str, Any] = loop.get(f"/incidents/{loop.incident_id}")
        return incident if incident["state"] == "resolved" else None

    incident = wait_for("the end of the symptom", cleared, timeout_s=240)
    assert not incident["active"]
    assert incident["cleared_at"] < incident["resolved_at"]
    # What was found stays with the incident: evidence from after the cure says nothing about the cause.
    assert incident["hypotheses"][0]["cause"] == "C5", incident["hypotheses"]
    kinds = [entry["kind"] for entry in incident["timeline"]]
    # A symptom that joined the incident may have begun before it.
    assert set(kinds[: kinds.index("opened")]) <= {"symptom"}, incident["timeline"]
    times = [entry["at"] for entry in incident["timeline"]]
    assert times == sorted(times)
    body = Webhook(loop.secret).verify((resolved := loop.delivered("incident.resolved")).body, resolved.headers)
    assert body["data"]["id"] == loop.incident_id


def test_10_undone_the_host_is_as_before(loop: Loop) -> None:
    answer = loop.api.post(f"/remedies/{loop.remedy_id}/undo")
    assert answer.status_code == 202, answer.text
    loop.remedy_in(loop.remedy_id, "undone")
    assert loop.max_idle() is None


def test_11_every_step_of_a_person_is_in_the_audit_log(loop: Loop) -> None:
    actions = {event["action"] for event in loop.get("/audit?limit=200")["items"]}
    rule = {f"automation.{step}" for step in ("create", "enable", "disable")}
    assert actions >= {"session.sign_in", "webhook.create", *rule, "remedy.dry_run", "remedy.undo"}


def test_12_what_the_simulator_says_agrees_with_what_was_found(loop: Loop) -> None:
    truth = [json.loads(line) for line in (loop.stack.layout.folder / "truth.jsonl").read_text().splitlines()]
    cause = loop.get(f"/incidents/{loop.incident_id}")["hypotheses"][0]["cause"]
    assert {(one["host"], one["pci"], one["cause"]) for one in truth if one["symptom"] == "S1"} == {(HOST, PCI, cause)}


def test_13_a_virtual_function_names_the_container_that_has_it(loop: Loop) -> None:
    def sending() -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = loop.get(f"/rnics/{HOST}/{PCI}/vfs")["items"]
        return [item for item in items if item["container"] is not None and (item["tx_gbps"] or 0) > 0]

    for function in wait_for("functions that send, with their containers", sending, timeout_s=60):
        assert function["state"] == "elsewhere", function
        assert function["representor"], function
        assert function["container"]["addresses"], function
