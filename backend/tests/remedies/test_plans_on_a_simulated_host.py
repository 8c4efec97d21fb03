"""A mask plan from the click to the effect: a simulated host's switch, the real agent, the real backend.

The mechanism is the simulator's: packets meet masks in the order of its chain. What the plan promised has to show in the flows afterwards.
"""

import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from signal import SIGTERM
from typing import Any

import httpx
import pytest

from wallwatch_local.hosts import Host, hand_over_token, render
from wallwatch_local.paths import binary
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing.mask_plan_host import predict_decline

pytestmark = pytest.mark.long

HOST = Host("host01", "r1")
SCENARIO = """# One RNIC whose hot flows stand behind many masks.
name: plan
seed: 7
topology: {hosts: 2, racks: 1, rnics_per_host: 1, models: [CX-6], firmware: fixed}
workload:
  - {kind: multi-tenant, containers: 4, flows: 400, masks: 60, gbps: 300}
"""


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"plan_read_s": 3, "remedy_max_fleet_percent": 100, "remedy_approval_risk": "never", "remedy_watch_s": 0.2}


def within(folder: Path, command: list[str]) -> list[str]:
    """A command that runs in a folder."""
    return die_with_parent(["env", f"--chdir={folder}", *command], SIGTERM)


@pytest.fixture(scope="module")
def folder(backend: Any, admin: httpx.Client, eventually: Any) -> Iterator[Path]:
    """The simulated host's folder, with its agent running; the path is short, since it holds sockets."""
    token = admin.post("/api/v1/agents/enrolment-tokens", json={"host": HOST.name}).json()["token"]
    with tempfile.TemporaryDirectory(prefix="ww", dir="/tmp") as place:
        top = Path(place)
        (top / "plan.yaml").write_text(SCENARIO)
        own = top / "hosts" / HOST.name
        (own / "agent").mkdir(parents=True, mode=0o700)
        values = {"host": HOST.name, "server_url": backend.url, "opamp_url": backend.url.replace("http", "ws") + "/v1/opamp"}
        (own / "agent.yaml").write_text(render("agent.yaml", values))
        hand_over_token(own, token)
        fleet = [str(binary("fleetsim")), "run", "--scenario", "plan.yaml", "--hosts", "hosts"]
        agent = [str(binary("wallwatch-agent")), "run", "--config", "agent.yaml"]
        with (
            running("fleetsim", within(top, fleet), top / "fleet.log", (own / "ovs/vswitchd.ctl").exists, SIGTERM),
            running("agent", within(own, agent), own / "agent.log", (own / "agent/credentials.json").exists, SIGTERM),
        ):
            eventually(lambda: [one for one in admin.get("/api/v1/agents").json()["items"] if one["connected"]])
            yield own


@pytest.fixture(scope="module")
def pci(backend: Any, folder: Path) -> str:
    found = next(path.name for path in (folder / "sys/bus/pci/devices").iterdir() if not (path / "physfn").exists())
    with backend.connect() as connection:
        connection.execute("INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, %s, 'CX-6')", [HOST.name, found, HOST.rack])
    return found


@pytest.fixture
def planned(operator: httpx.Client, pci: str, eventually: Any) -> Callable[[], dict[str, Any]]:
    """A function that requests a plan for the present flows."""

    def make() -> dict[str, Any]:
        path = "/api/v1/plans/" + operator.post("/api/v1/plans", json={"host": HOST.name, "pci": pci}).json()["id"]
        made: dict[str, Any] = eventually(lambda: (p := operator.get(path).json())["state"] not in ("reading", "planning") and p)
        assert made["state"] == "ready", made["message"]
        return made

    return make


def test_lookups_fall_as_predicted_and_no_packet_is_handled_differently(
    operator: httpx.Client, folder: Path, pci: str, planned: Callable[[], dict[str, Any]], eventually: Any
) -> None:
    def finished(remedy: dict[str, Any], *states: str) -> dict[str, Any]:
        path = f"/api/v1/remedies/{remedy['id']}"
        done: dict[str, Any] = eventually(lambda: (r := operator.get(path).json())["state"] not in ("approved", "running") and r)
        assert done["state"] in states, (done["state"], done["message"])
        return done

    plan = eventually(lambda: (p := planned())["worthwhile"] and p, timeout_s=120)  # the simulator's containers start one after another
    order = {"action": "apply-mask-plan", "host": HOST.name, "pci": pci, "params": {"plan": plan["id"]}}
    shown = finished(operator.post("/api/v1/remedies", json={**order, "mode": "dry_run"}).json(), "planned")
    assert shown["operations"][0]["text"] in operator.get(f"/api/v1/plans/{plan['id']}/operations").text
    remedy = finished(operator.post("/api/v1/remedies", json={**order, "mode": "apply"}).json(), "verifying")
    check = eventually(lambda: (c := operator.get(f"/api/v1/plans/{plan['id']}").json()["check"])["state"] != "waiting" and c)
    assert (check["state"], check["entries"] > 0) == ("equivalent", True), check

    before, promised = (plan["report"]["expected"][when] for when in ("before", "after"))
    now = planned()["report"]["expected"]["before"]
    assert before["q_l"] - now["q_l"] >= 0.5 * (before["q_l"] - promised["q_l"])
    assert now["bandwidth_gbps"] > before["bandwidth_gbps"]

    assert operator.post(f"/api/v1/remedies/{remedy['id']}/undo").status_code == 202
    eventually(lambda: operator.get(f"/api/v1/remedies/{remedy['id']}").json()["state"] == "undone")
    undone = eventually(lambda: (c := operator.get(f"/api/v1/plans/{plan['id']}").json()["check"])["operation"] == "undo" and c)
    assert undone["state"] in ("waiting", "equivalent")
    assert not list((folder / "agent/plans").iterdir())


def test_a_rule_creates_and_applies_a_plan_on_a_host_with_a_predicted_decline_and_it_is_confirmed(
    admin: httpx.Client, operator: httpx.Client, backend: Any, pci: str, planned: Callable[[], dict[str, Any]], eventually: Any
) -> None:
    """All is real but the way of the telemetry: what stands in the switch afterwards is read by the agent, and written here as a sample."""
    eventually(lambda: planned()["worthwhile"], timeout_s=120)
    with backend.connect() as connection:
        predict_decline(connection, HOST.name)
    rule = {
        "name": "faster",
        "action": "apply-mask-plan",
        "trigger": "decline",
        "matchers": [{"name": "host", "op": "=", "value": HOST.name}],
    }
    path = f"/api/v1/automation-rules/{admin.post('/api/v1/automation-rules', json=rule).json()['id']}"
    assert admin.post(f"{path}/enable").status_code == 200

    def run(*states: str) -> dict[str, Any]:
        def reached() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = operator.get(f"{path}/runs").json()["items"]
            return [one for one in found if one["state"] in states or one["ended_at"]]

        (one,) = eventually(reached, timeout_s=120)
        assert one["state"] in states, one
        return dict(one)

    remedy_path = f"/api/v1/remedies/{run('applying')['remedy_id']}"
    remedy = eventually(lambda: (r := operator.get(remedy_path).json())["state"] not in ("approved", "running") and r)
    assert (remedy["state"], remedy["requested_by"]) == ("verifying", "automation:faster"), remedy["message"]

    def lookups(plan: dict[str, Any]) -> list[float]:
        return [plan["report"]["chains"][side]["queries_before"] for side in ("egress", "ingress")]

    before, measured = lookups(operator.get(f"/api/v1/plans/{run('applying')['plan_id']}").json()), lookups(planned())
    assert measured[0] < before[0]
    at = datetime.fromisoformat(remedy["commands"][0]["finished_at"])
    with backend.connect() as connection:
        for seconds, sample in ((-30, before), (10, measured), (20, measured), (30, measured)):
            connection.execute(
                "INSERT INTO offload_sample (time, rnic_id, q_egress, q_ingress) SELECT %s, rnic_id, %s, %s FROM rnic WHERE host = %s",
                [at + timedelta(seconds=seconds), *sample, HOST.name],
            )
    assert [step["state"] for step in run("confirmed")["steps"]] == ["planning", "planning", "applying", "confirmed"]
