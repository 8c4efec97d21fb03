"""What surrounds an incident: similar ones and what resolved them, containers that suffer, what changed before."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import orjson
import pytest

NOW = datetime.now(UTC).replace(microsecond=0)
START = NOW - timedelta(hours=1)
PCI = "0000:3b:00.0"


@pytest.fixture
def host() -> str:
    """A host that no other test has."""
    return f"near-{uuid4().hex[:8]}"


@pytest.fixture
def open_on(operator: httpx.Client, findings: Any, apply_findings: Any) -> Any:
    """A function that opens an incident on a host at START and returns its path."""

    def make(host: str, symptom: str = "S1", started: datetime = START, **more: Any) -> str:
        apply_findings(findings.finding(symptom, host=host, started=started, **more))
        return f"/api/v1/incidents/{operator.get('/api/v1/incidents', params={'host': host}).json()['items'][0]['id']}"

    return make


@pytest.fixture
def happened(backend: Any) -> Any:
    """A function that stores an event of a host, some seconds before or after START."""

    def store(host: str, after_s: float, kind: str, pci: str = PCI, **other: Any) -> None:
        with backend.connect() as connection:
            (host_id,) = connection.execute(
                "INSERT INTO host (host) VALUES (%s) ON CONFLICT (host) DO UPDATE SET host = excluded.host RETURNING host_id", [host]
            ).fetchone()
            connection.execute(
                "INSERT INTO event (time, host_id, pci, kind, detail, other) VALUES (%s, %s, %s, %s, %s, %s)",
                [START + timedelta(seconds=after_s), host_id, pci, kind, f"{kind} happened.", orjson.dumps(other).decode()],
            )

    return store


def cni(container: str, vf: str, **more: Any) -> dict[str, Any]:
    return {"container": container, "device": vf, "pod": f"ml/{container}", "address": "10.0.0.2/24", "vxlan_network": 4097, **more}


def test_containers_are_those_that_had_a_function_when_it_began_or_came_since(
    operator: httpx.Client, host: str, open_on: Any, happened: Any
) -> None:
    path = open_on(host)
    happened(host, -900, "cni_add", **cni("gone", "0000:3b:00.2", result="ok"))
    happened(host, -600, "cni_del", **cni("gone", "0000:3b:00.2"))
    happened(host, -500, "cni_add", **cni("stays", "0000:3b:00.2", result="ok"))
    happened(host, -400, "cni_add", **cni("leaves", "0000:3b:00.3", result="ok"))
    happened(host, 60, "cni_del", **cni("leaves", "0000:3b:00.3"))
    happened(host, 120, "cni_add", **cni("refused", "0000:3b:00.4", result="refused"))
    happened(host, 180, "cni_add", **cni("comes", "0000:3b:00.3", result="ok"))
    happened(host, -300, "cni_add", pci="0000:5e:00.0", **cni("elsewhere", "0000:5e:00.2", result="ok"))
    body = operator.get(f"{path}/containers").json()
    assert [(c["container"], c["vf"], c["until"] is None) for c in body["items"]] == [
        ("stays", "0000:3b:00.2", True),
        ("leaves", "0000:3b:00.3", False),
        ("comes", "0000:3b:00.3", True),
    ]
    assert (body["items"][0]["pod"], body["items"][0]["vxlan_network"], body["truncated"]) == ("ml/stays", 4097, False)


def test_a_pod_that_kubernetes_described_has_its_owner_and_labels(
    operator: httpx.Client, host: str, open_on: Any, happened: Any, backend: Any
) -> None:
    path = open_on(host)
    known, unknown = f"{host}-0", f"{host}-1"
    happened(host, -500, "cni_add", **cni(known, "0000:3b:00.2", result="ok"))
    happened(host, -400, "cni_add", **cni(unknown, "0000:3b:00.3", result="ok"))
    with backend.connect() as connection:
        connection.execute(
            "INSERT INTO kubernetes_pod (pod, owner, labels, found, read_at) VALUES (%s, 'StatefulSet/trainer', %s, true, now())",
            [f"ml/{known}", orjson.dumps({"app": "trainer"}).decode()],
        )
    items = operator.get(f"{path}/containers").json()["items"]
    assert [(each["pod"], each["owner"], each["labels"]) for each in items] == [
        (f"ml/{known}", "StatefulSet/trainer", {"app": "trainer"}),
        (f"ml/{unknown}", None, {}),
    ]


def test_a_finding_of_the_whole_host_reaches_the_containers_of_all_its_rnics(
    operator: httpx.Client, host: str, open_on: Any, happened: Any
) -> None:
    path = open_on(host, "S3", pci="", blast_radius="host")
    for n, pci in enumerate((PCI, "0000:5e:00.0")):
        happened(host, -60 - n, "cni_add", pci=pci, **cni(f"c{n}", pci.replace("00.0", "00.2"), result="ok"))
    assert {c["container"] for c in operator.get(f"{path}/containers").json()["items"]} == {"c0", "c1"}


def test_what_changed_before_comes_in_order_and_without_single_flows(
    operator: httpx.Client, backend: Any, host: str, open_on: Any, happened: Any
) -> None:
    path = open_on(host)
    happened(host, -1000, "port_up")
    happened(host, -300, "command_timeout", command="CREATE_FLOW_GROUP")
    happened(host, -200, "cni_add", **cni("late", "0000:3b:00.2", result="ok"))
    happened(host, -100, "flow_offloaded")
    happened(host, 5, "port_down")
    with backend.connect() as connection:
        (host_id,) = connection.execute("SELECT host_id FROM host WHERE host = %s", [host]).fetchone()
        for after_s, max_idle in ((-320, 10_000), (-250, 60_000), (-240, 60_000)):
            connection.execute(
                "INSERT INTO datapath_sample (time, host_id, datapath, max_idle_ms) VALUES (%s, %s, 'system@ovs-system', %s)",
                [START + timedelta(seconds=after_s), host_id, max_idle],
            )
    open_on(host, "S6", started=START - timedelta(seconds=50), hypotheses=[])
    body = operator.get(f"{path}/before").json()
    assert datetime.fromisoformat(body["to"]) - datetime.fromisoformat(body["from"]) == timedelta(minutes=15)
    assert [(c["kind"], c["data"].get("kind")) for c in body["items"]] == [
        ("event", "command_timeout"),
        ("setting", None),
        ("container", "cni_add"),
        ("incident", None),
    ]
    assert body["items"][1]["text"] == "max-idle changed from 10000 ms to 60000 ms."
    assert body["items"][0]["data"]["command"] == "CREATE_FLOW_GROUP"


def test_what_changed_on_an_rnic_leaves_its_neighbours_and_other_hosts_out(
    operator: httpx.Client, backend: Any, host: str, open_on: Any, happened: Any
) -> None:
    with backend.connect() as connection:
        connection.execute("INSERT INTO rnic (host, pci) VALUES (%s, %s)", [host, PCI])
    open_on(host)
    happened(host, -300, "port_up")
    happened(host, -200, "pause_storm", pci="0000:5e:00.0")
    happened(host, -100, "node_drained", pci="")
    happened(f"{host}-other", -100, "port_up")
    happened(host, -90, "flow_offloaded")
    path = f"/api/v1/rnics/{host}/{PCI}/changes"
    around = {"from": (START - timedelta(minutes=10)).isoformat(), "to": (START + timedelta(minutes=10)).isoformat()}
    body = operator.get(path, params=around).json()
    assert [(c["kind"], c["data"].get("kind")) for c in body["items"]] == [
        ("event", "port_up"),
        ("event", "node_drained"),
        ("incident", None),
    ]
    assert body["truncated"] is False
    long = operator.get(path, params={**around, "from": (START - timedelta(days=9)).isoformat()}).json()
    assert long["truncated"] is True
    assert datetime.fromisoformat(long["to"]) - datetime.fromisoformat(long["from"]) == timedelta(days=1)
    assert operator.get("/api/v1/rnics/nobody/0000:01:00.0/changes").status_code == 404


def test_similar_incidents_come_with_what_resolved_them_most_alike_first(
    operator: httpx.Client, backend: Any, host: str, open_on: Any, findings: Any
) -> None:
    model = uuid4().hex  # nothing else in this database has it
    cause = [{"cause": "C7", "title": "", "prior": 0.1, "posterior": 0.9, "evidence_for": [], "evidence_against": []}]
    other = [{**cause[0], "cause": "C8"}]
    near = open_on(f"{host}-near", "S7", hypotheses=cause, model=model)
    far = open_on(f"{host}-far", "S7", hypotheses=other, model=model, started=START - timedelta(days=1))
    still = open_on(f"{host}-still", "S7", hypotheses=cause, started=START - timedelta(days=2))
    operator.post(f"{near}/comments", json={"text": "It was the riser."})
    with backend.connect() as connection:
        for mode, state in (("apply", "failed"), ("apply", "not_confirmed"), ("apply", "confirmed"), ("dry_run", "planned")):
            connection.execute(
                "INSERT INTO remedy (id, action, host, params, mode, state, incident_id, requested_by, created_at, updated_at, operations, "
                "request_hash) VALUES (%s, 'cordon-rnic', %s, '{}', %s, %s, %s, 'kim', now(), now(), '[]', '')",
                [uuid4(), f"{host}-near", mode, state, near.rsplit("/", 1)[1]],
            )
    for path in (near, far):
        operator.post(f"{path}/resolve")
    path = open_on(host, "S7", hypotheses=cause, model=model, started=START + timedelta(minutes=30))
    found = operator.get(f"{path}/similar", params={"limit": 2}).json()["items"]
    assert [one["incident"]["host"] for one in found] == [f"{host}-near", f"{host}-far"]
    assert [one["alike"] for one in found] == [["cause", "symptom", "model"], ["symptom", "model"]]
    assert [r["state"] for r in found[0]["remedies"]] == ["confirmed", "not_confirmed"]
    assert (found[0]["last_comment"], found[0]["resolved_by"]) == ("It was the riser.", "operator")
    assert found[0]["lasted_s"] > 0
    assert operator.get(still).json()["state"] == "open", "an unresolved one is no past incident"


@pytest.mark.parametrize("part", ["similar", "containers", "before"])
def test_what_surrounds_an_incident_that_is_not_there_is_not_found(viewer: httpx.Client, part: str) -> None:
    assert viewer.get(f"/api/v1/incidents/{uuid4()}/{part}").status_code == 404
