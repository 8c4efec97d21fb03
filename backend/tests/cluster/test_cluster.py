"""Nodes of Kubernetes show the health of their RNICs, in conditions, Events and taints, and pods their labels.

The API server is a stand-in that knows the chart's rights and the published schemas. `make kubernetes` runs the same tests against a real
one, but for those that need to count calls or to cut the server off.
"""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from structlog.testing import capture_logs

from wallwatch_backend.cluster.conditions import CONDITION
from wallwatch_backend.cluster.nodes import Node
from wallwatch_backend.cluster.taints import TAINT
from wallwatch_backend.cluster.worker import ClusterWorker, is_needed
from wallwatch_backend.hosts.kubernetes import repository as stored
from wallwatch_backend.hosts.kubernetes.api import CALLS, KubernetesSilent
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings
from wallwatch_testing.kubernetes_cluster import StandInCluster
from wallwatch_testing.real_cluster import PROGRAM, ApiServer, RealCluster, serving

PCI, OTHER = "0000:3b:00.0", "0000:5e:00.0"
ZONE, INSTANCE = "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type"


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    """The tests run the worker step by step."""
    return {"background": False}


Cluster = StandInCluster | RealCluster


@pytest.fixture(scope="module")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer | None]:
    """A real API server, if one was built."""
    program = os.environ.get(PROGRAM)
    if program is None:
        yield None
        return
    with serving(Path(program), tmp_path_factory.mktemp("apiserver")) as server:
        yield server


@pytest.fixture
def cluster(api_server: ApiServer | None, tmp_path: Path) -> Iterator[Cluster]:
    used = ("nodes", "taint", "pods")
    cluster = StandInCluster(tmp_path, *used) if api_server is None else RealCluster(api_server, tmp_path, *used)
    yield cluster
    cluster.stop()


@pytest.fixture
def stand_in(cluster: Cluster) -> StandInCluster:
    """For tests that count calls, or cut the server off."""
    if not isinstance(cluster, StandInCluster):
        pytest.skip("a real API server counts no calls and does not fail on request")
    return cluster


@pytest.fixture
def settings(backend: Any, cluster: Cluster) -> Settings:
    used: dict[str, object] = {"kubernetes_nodes": True, "kubernetes_taint": "all", "kubernetes_pods": True}
    used["public_url"] = "https://wallwatch.example"
    files = {"kubernetes_api_url": cluster.url, "kubernetes_ca_file": cluster.authority, "kubernetes_token_file": cluster.token_file}
    return Settings.model_validate(backend.settings.model_dump() | used | files)


@pytest.fixture
def worker(database: Database, settings: Settings) -> ClusterWorker:
    return ClusterWorker(database, settings)


@pytest.fixture
def fleet(backend: Any, host: str) -> Iterator[Callable[..., None]]:
    """A function that gives the test's host, or another, RNICs with these symptoms: PCI address -> symptom -> severity."""
    written: set[str] = set()
    with backend.connect() as connection:

        def write(rnics: dict[str, dict[str, str]], seen_at: datetime | None = None, of: str = host) -> None:
            at = seen_at or datetime.now(UTC)
            written.add(of)
            for pci, symptoms in rnics.items():
                stored = {name: {"since": at.isoformat(), "severity": severity, "until": None} for name, severity in symptoms.items()}
                found = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s AND pci = %s", [of, pci]).fetchone()
                (rnic_id,) = (
                    found or connection.execute("INSERT INTO rnic (host, pci) VALUES (%s, %s) RETURNING rnic_id", [of, pci]).fetchone()
                )
                connection.execute(
                    """INSERT INTO rnic_state (rnic_id, host, pci, symptoms, seen_at, change_seq)
                       VALUES (%s, %s, %s, %s, %s, nextval('rnic_state_change_seq_values'))
                       ON CONFLICT (rnic_id) DO UPDATE SET symptoms = excluded.symptoms, seen_at = excluded.seen_at""",
                    [rnic_id, of, pci, json.dumps(stored), at],
                )

        yield write
        connection.execute("DELETE FROM rnic_state WHERE host = ANY(%s)", [list(written)])
        connection.execute("DELETE FROM rnic WHERE host = ANY(%s)", [list(written)])


@pytest.fixture
def cordon(backend: Any, host: str) -> Callable[[str, bool], None]:
    """A function that records what the agent reported of a cordon."""

    def record(pci: str, cordoned: bool) -> None:
        with backend.connect() as connection:
            connection.execute(
                """INSERT INTO rnic_cordon (host, pci, cordoned, changed_at) VALUES (%s, %s, %s, now())
                   ON CONFLICT (host, pci) DO UPDATE SET cordoned = excluded.cordoned""",
                [host, pci, cordoned],
            )

    return record


@pytest.fixture
def incident(backend: Any, host: str) -> Callable[..., str]:
    """A function that writes an incident of the test's host, and entries of its timeline: kind -> time."""

    def write(timeline: dict[str, datetime] | None = None, **more: Any) -> str:
        now = datetime.now(UTC)
        row = {
            "id": str(uuid4()),
            "host": host,
            "pci": PCI,
            "symptom": "S6",
            "state": "open",
            "severity": "warning",
            "blast_radius": "rnic",
            "title": "S6 on the RNIC",
            "summary": "s",
            "finding_id": str(uuid4()),
            "active": True,
            "opened_at": now,
            "updated_at": now,
            "hosts": [host],
            "symptoms": ["S6"],
            "scope": "rnic",
            "subject": host,
            "rnics": 1,
            "reopened": 0,
            "external_refs": "[]",
            "apart": False,
            "version": 1,
            **more,
        }
        with backend.connect() as connection:
            names, places = ", ".join(row), ", ".join(["%s"] * len(row))
            update = ", ".join(f"{name} = excluded.{name}" for name in row if name != "id")
            connection.execute(
                f"INSERT INTO incident ({names}) VALUES ({places}) ON CONFLICT (id) DO UPDATE SET {update}",
                list(row.values()),
            )
            for kind, at in (timeline or {}).items():
                connection.execute(
                    "INSERT INTO incident_timeline (incident_id, at, kind, actor, text, data) VALUES (%s, %s, %s, 'system', 't', '{}')",
                    [row["id"], at, kind],
                )
        return str(row["id"])

    return write


def shown(viewer: httpx.Client, host: str) -> dict[str, Any]:
    """The node on the page of the RNIC."""
    answer = viewer.get(f"/api/v1/rnics/{host}/{PCI}")
    assert answer.status_code == 200, answer.text
    node: dict[str, Any] = answer.json()["node"]
    return node


def search(viewer: httpx.Client, q: str) -> dict[str, Any]:
    answer = viewer.get("/api/v1/search", params={"q": q})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_healthy_node_says_so_and_the_worst_symptom_is_the_reason(
    worker: ClusterWorker, cluster: Cluster, fleet: Callable[..., None], host: str
) -> None:
    cluster.add_node(host)
    fleet({PCI: {}, OTHER: {}})
    await worker.process_round()
    condition = cluster.condition(host, CONDITION)
    assert condition is not None
    assert (condition["status"], condition["reason"], condition["message"]) == ("True", "NoSymptoms", "No symptoms on 2 RNICs.")
    fleet({PCI: {"S1": "warning"}, OTHER: {"S6": "critical", "S1": "warning"}})
    await worker.process_round()
    sick = cluster.condition(host, CONDITION)
    assert sick is not None
    assert (sick["status"], sick["reason"]) == ("False", "S6")
    assert f"on {OTHER}; S1" in sick["message"]
    assert f"{PCI}, {OTHER}" in sick["message"]
    assert cluster.condition(host, "Ready") is not None, "conditions of others stay"


async def test_a_silent_host_is_unknown_whatever_it_had(
    worker: ClusterWorker, cluster: Cluster, fleet: Callable[..., None], host: str
) -> None:
    cluster.add_node(host)
    fleet({PCI: {"S6": "critical", "silent": "critical"}})
    await worker.process_round()
    condition = cluster.condition(host, CONDITION)
    assert condition is not None
    assert (condition["status"], condition["reason"]) == ("Unknown", "NoTelemetry")


@pytest.mark.parametrize("silent_for", [timedelta(minutes=16), timedelta(days=6)], ids=["minutes", "days"])
async def test_a_host_without_new_samples_is_unknown_though_no_finding_says_so(
    worker: ClusterWorker, cluster: Cluster, fleet: Callable[..., None], host: str, silent_for: timedelta
) -> None:
    cluster.add_node(host)
    fleet({PCI: {}}, seen_at=datetime.now(UTC) - silent_for)
    await worker.process_round()
    condition = cluster.condition(host, CONDITION)
    assert condition is not None
    assert (condition["status"], condition["reason"]) == ("Unknown", "NoTelemetry")


async def test_a_removed_rnic_is_not_counted_but_its_symptom_stays_until_it_is_cleared(
    worker: ClusterWorker, cluster: Cluster, fleet: Callable[..., None], cordon: Callable[[str, bool], None], host: str
) -> None:
    cluster.add_node(host)
    fleet({OTHER: {}}, seen_at=datetime.now(UTC) - timedelta(hours=25))
    fleet({PCI: {}})
    cordon(PCI, True)
    await worker.process_round()
    condition = cluster.condition(host, CONDITION)
    assert condition is not None
    assert condition["message"] == "No symptoms on 1 RNIC."
    assert [taint["key"] for taint in cluster.node(host)["spec"]["taints"]] == [TAINT], "all that are in the host are cordoned"
    fleet({OTHER: {"S6": "critical"}}, seen_at=datetime.now(UTC) - timedelta(hours=25))
    await worker.process_round()
    fallen = cluster.condition(host, CONDITION)
    assert fallen is not None
    assert (fallen["status"], fallen["reason"]) == ("False", "S6")


async def test_what_is_unchanged_is_written_again_only_as_a_heartbeat(
    worker: ClusterWorker, cluster: Cluster, fleet: Callable[..., None], host: str
) -> None:
    cluster.add_node(host)
    earlier = datetime.now(UTC) - timedelta(minutes=12)
    fleet({PCI: {}}, seen_at=earlier)
    await worker.process_round()
    first = cluster.node(host)
    fleet({PCI: {}}, seen_at=earlier + timedelta(minutes=9))
    await worker.process_round()
    assert cluster.node(host) == first
    fleet({PCI: {}}, seen_at=earlier + timedelta(minutes=11))
    await worker.process_round()
    beaten, before = cluster.condition(host, CONDITION), next(c for c in first["status"]["conditions"] if c["type"] == CONDITION)
    assert beaten is not None
    assert beaten["lastHeartbeatTime"] > before["lastHeartbeatTime"]
    assert beaten["lastTransitionTime"] == before["lastTransitionTime"]


async def test_a_node_without_samples_for_a_week_loses_the_condition_and_one_that_never_had_any_gets_none(
    worker: ClusterWorker, cluster: Cluster, fleet: Callable[..., None], host: str
) -> None:
    cluster.add_node(host)
    cluster.add_node("control-plane")
    fleet({PCI: {}})
    await worker.process_round()
    assert cluster.condition("control-plane", CONDITION) is None
    fleet({PCI: {}}, seen_at=datetime.now(UTC) - timedelta(days=7, minutes=1))
    await worker.process_round()
    assert cluster.condition(host, CONDITION) is None
    assert cluster.condition(host, "Ready") is not None


async def test_all_pages_of_nodes_are_read(
    worker: ClusterWorker, stand_in: StandInCluster, fleet: Callable[..., None], host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wallwatch_backend.cluster.worker.PAGE", 2)
    for name in ("a-1", "a-2", "a-3", host):
        stand_in.add_node(name)
    fleet({PCI: {}})
    await worker.process_round()
    assert stand_in.condition(host, CONDITION) is not None
    assert stand_in.asked.count(("GET", "/api/v1/nodes")) == 2


async def test_an_incident_is_an_event_of_its_node_when_it_begins_and_when_it_ends_once_each(
    worker: ClusterWorker,
    database: Database,
    settings: Settings,
    cluster: Cluster,
    incident: Callable[..., str],
    host: str,
) -> None:
    cluster.add_node(host)
    id = incident(severity="critical")
    await worker.process_round()
    await worker.process_round()
    await ClusterWorker(database, settings).process_round()
    [opened] = cluster.events_on(host)
    assert (opened["type"], opened["reason"]) == ("Warning", "RnicIncidentOpened")
    assert opened["note"] == f"S6 on the RNIC (critical). https://wallwatch.example/incidents/{id}"
    assert opened["regarding"]["uid"] == cluster.node(host)["metadata"]["uid"]
    now = datetime.now(UTC)
    incident(id=id, state="resolved", resolved_at=now, updated_at=now)
    await worker.process_round()
    resolved = cluster.events_on(host)[1:]
    assert [(event["type"], event["reason"]) for event in resolved] == [("Normal", "RnicIncidentResolved")]


async def test_an_incident_that_recurs_or_is_split_off_began_then_and_an_edit_is_no_beginning(
    worker: ClusterWorker, cluster: Cluster, incident: Callable[..., str], host: str
) -> None:
    cluster.add_node(host)
    now = datetime.now(UTC)
    recent, old = now - timedelta(minutes=5), now - timedelta(days=2)
    incident(opened_at=old, reopened=1, state="reopened", timeline={"reopened": old, "comment": now})
    incident(opened_at=old, reopened=1, state="reopened", timeline={"reopened": old, "split": now})  # another was split from it
    again = incident(opened_at=old, reopened=1, state="reopened", timeline={"reopened": recent, "comment": now})
    apart = incident(opened_at=old, apart=True, timeline={"split": recent, "comment": now})
    await worker.process_round()
    said = {event["note"].rpartition("/")[2]: datetime.fromisoformat(event["eventTime"]) for event in cluster.events_on(host)}
    assert said == {again: recent, apart: recent}


@pytest.mark.parametrize("more", [{"suppressed_by": str(uuid4())}, {"inhibited_by": str(uuid4())}], ids=["silenced", "of a remedy"])
async def test_what_webhooks_do_not_hear_is_no_event(
    worker: ClusterWorker, cluster: Cluster, incident: Callable[..., str], host: str, more: dict[str, str]
) -> None:
    cluster.add_node(host)
    incident(**more)
    await worker.process_round()
    assert cluster.events_on(host) == []


async def test_a_node_is_tainted_while_all_its_rnics_are_cordoned_and_the_taints_of_others_stay(
    worker: ClusterWorker,
    cluster: Cluster,
    fleet: Callable[..., None],
    cordon: Callable[[str, bool], None],
    viewer: httpx.Client,
    host: str,
) -> None:
    gpu = {"key": "nvidia.com/gpu", "effect": "NoSchedule", "value": "present"}
    cluster.add_node(host, taints=[gpu])
    fleet({PCI: {}, OTHER: {}})
    cordon(PCI, True)
    await worker.process_round()
    assert cluster.node(host)["spec"]["taints"] == [gpu]
    cordon(OTHER, True)
    await worker.process_round()
    assert cluster.node(host)["spec"]["taints"] == [gpu, {"key": TAINT, "value": "true", "effect": "NoSchedule"}]
    assert shown(viewer, host)["tainted"] is True
    by_hand = {"key": "maintenance", "effect": "NoExecute"}
    cluster.taint_by_hand(host, by_hand)
    cordon(PCI, False)
    await worker.process_round()  # the API server refuses, as the node is not what was read; it is read again
    assert len(cluster.node(host)["spec"]["taints"]) == 3
    await worker.process_round()
    assert cluster.node(host)["spec"]["taints"] == [gpu, by_hand]
    assert [event["reason"] for event in cluster.events_on(host)] == ["RnicCordonTainted", "RnicCordonUntainted"]
    assert shown(viewer, host)["tainted"] is False


async def test_without_the_right_for_one_thing_the_others_are_done(
    worker: ClusterWorker, cluster: Cluster, fleet: Callable[..., None], cordon: Callable[[str, bool], None], host: str
) -> None:
    cluster.use("nodes")
    cluster.add_node(host)
    fleet({PCI: {}})
    cordon(PCI, True)
    await worker.process_round()
    assert "taints" not in cluster.node(host)["spec"]
    assert cluster.condition(host, CONDITION) is not None


async def test_an_api_server_that_does_not_answer_changes_nothing_and_the_next_round_catches_up(
    worker: ClusterWorker, stand_in: StandInCluster, fleet: Callable[..., None], host: str
) -> None:
    stand_in.add_node(host)
    fleet({PCI: {}})
    stand_in.down = True
    with pytest.raises(KubernetesSilent):
        await worker.process_round()
    stand_in.down = False
    await worker.process_round()
    assert stand_in.condition(host, CONDITION) is not None


async def test_a_node_or_an_event_that_is_refused_does_not_hold_up_those_after_it(
    worker: ClusterWorker, stand_in: StandInCluster, fleet: Callable[..., None], incident: Callable[..., str], host: str
) -> None:
    first = f"a-{host}"
    stand_in.add_node(first)
    stand_in.add_node(host)
    stand_in.refusing = lambda method, path, body: 422 if first in path or (body and body.get("note", "").startswith("First")) else None
    fleet({PCI: {}})
    fleet({OTHER: {}}, of=first)
    incident(title="First")
    incident(title="Second")
    with capture_logs() as logged:
        await worker.process_round()
        await worker.process_round()
    assert stand_in.condition(first, CONDITION) is None
    assert stand_in.condition(host, CONDITION) is not None
    assert [event["note"].partition(" ")[0] for event in stand_in.events_on(host)] == ["Second"]
    assert [line["step"] for line in logged if line["event"] == "kubernetes_failed"] == ["conditions", "events"]


async def test_several_refusals_in_a_row_end_a_step(
    worker: ClusterWorker, stand_in: StandInCluster, incident: Callable[..., str], host: str
) -> None:
    stand_in.add_node(host)
    stand_in.refusing = lambda method, path, body: 403 if method == "POST" else None
    for _ in range(9):
        incident()
    await worker.process_round()
    assert [method for method, _ in stand_in.asked].count("POST") == 5


async def test_a_conflict_of_a_condition_is_tried_again_in_the_next_round_without_the_right_to_read_a_node(
    worker: ClusterWorker, stand_in: StandInCluster, fleet: Callable[..., None], host: str
) -> None:
    stand_in.use("nodes")
    stand_in.add_node(host)
    fleet({PCI: {}})
    stand_in.refusing = lambda method, path, body: 409 if method == "PATCH" else None
    with capture_logs() as logged:
        await worker.process_round()
    assert ("GET", f"/api/v1/nodes/{host}") not in stand_in.asked
    assert [line for line in logged if line["event"] == "kubernetes_failed"] == []
    stand_in.refusing = lambda method, path, body: None
    await worker.process_round()
    assert stand_in.condition(host, CONDITION) is not None


@pytest.mark.parametrize("status", [429, 502])
async def test_a_refusal_in_plain_text_is_counted_and_logged_with_its_status(
    worker: ClusterWorker, stand_in: StandInCluster, status: int
) -> None:
    stand_in.proxy_answers = status
    counted = CALLS.labels("list_nodes", status)._value.get()
    with capture_logs() as logged:
        await worker.process_round()
    assert CALLS.labels("list_nodes", status)._value.get() == counted + 1
    [line] = [line for line in logged if line["event"] == "kubernetes_failed"]
    assert line["error"].startswith(f"{status}: ")


async def test_a_node_that_goes_before_its_taint_is_written_gets_neither_that_nor_an_event(
    worker: ClusterWorker,
    stand_in: StandInCluster,
    fleet: Callable[..., None],
    cordon: Callable[[str, bool], None],
    incident: Callable[..., str],
    host: str,
) -> None:
    stand_in.add_node(host)
    fleet({PCI: {}})
    await worker.process_round()
    stand_in.remove_node(host)
    cordon(PCI, True)
    incident()
    await worker.process_round()
    assert ("PATCH", f"/api/v1/nodes/{host}") in stand_in.asked
    assert stand_in.events_on(host) == []


async def test_a_node_that_goes_meanwhile_is_forgotten(
    worker: ClusterWorker, stand_in: StandInCluster, fleet: Callable[..., None], host: str
) -> None:
    stand_in.add_node(host)
    fleet({PCI: {}})
    await worker.process_round()
    stand_in.remove_node(host)
    fleet({PCI: {"S6": "critical"}})
    await worker.process_round()
    assert ("PATCH", f"/api/v1/nodes/{host}/status") in stand_in.asked


async def test_zone_and_instance_type_are_shown_and_found(
    worker: ClusterWorker, cluster: Cluster, fleet: Callable[..., None], viewer: httpx.Client, backend: Any, host: str
) -> None:
    zone = f"eu-{host}-1a"
    cluster.add_node(host, labels={ZONE: zone, INSTANCE: "p5.48xlarge", "pool": f"rdma-{host}"})
    fleet({PCI: {}})
    with backend.connect() as connection:
        connection.execute("INSERT INTO host (host) VALUES (%s) ON CONFLICT DO NOTHING", [host])
    await worker.process_round()
    node = shown(viewer, host)
    assert (node["zone"], node["instance_type"], node["healthy"], node["reason"]) == (zone, "p5.48xlarge", "True", "NoSymptoms")
    for q in (zone.upper(), f"p5.48 {host}", f"pool=rdma-{host}"):
        [found] = search(viewer, q)["hosts"]
        assert (found["host"], found["zone"]) == (host, zone)
    assert search(viewer, f"pool=rdma {host}")["hosts"] == [], "a label is compared as a whole"


@pytest.fixture
def attached(backend: Any, host: str) -> Callable[..., None]:
    """A function that writes CNI events by which pods got virtual functions of the test's host, so many seconds ago."""
    with backend.connect() as connection:
        (host_id,) = connection.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", [host]).fetchone()

    def write(*pods: str, ago_s: int = 60) -> None:
        with backend.connect() as connection:
            for number, pod in enumerate(pods):
                fields = json.dumps({"pod": pod, "container": uuid4().hex, "device": "0000:3b:00.2"})
                connection.execute(
                    "INSERT INTO event (time, host_id, pci, kind, other) VALUES (now() - make_interval(secs => %s), %s, %s, 'cni_add', %s)",
                    [ago_s + number, host_id, PCI, fields],
                )

    return write


async def test_pods_with_virtual_functions_are_found_by_owner_and_labels_as_they_are_now(
    worker: ClusterWorker, cluster: Cluster, viewer: httpx.Client, attached: Callable[..., None], host: str
) -> None:
    pod = f"training/{host}-5d9c-x7k2p"
    cluster.add_pod(pod, labels={"app": host, "pod-template-hash": "5d9c"}, owner=("ReplicaSet", f"{host}-5d9c"))
    attached(pod)
    await worker.process_round()
    for q in (f"deployment/{host}", f"app={host}"):
        [found] = search(viewer, q)["pods"]
        assert (found["pod"], found["owner"]) == (pod, f"Deployment/{host}")
    cluster.add_pod(pod, labels={"app": "another"}, owner=("StatefulSet", f"db-{host}"))
    attached(pod, ago_s=-5)
    await worker.process_round()
    [found] = search(viewer, f"statefulset/db-{host}")["pods"]
    assert found["pod"] == pod, "a new pod of the same name is read again"


async def test_each_pod_is_read_once_and_what_is_no_name_of_a_pod_never(
    worker: ClusterWorker, stand_in: StandInCluster, attached: Callable[..., None], host: str
) -> None:
    present, gone = f"training/{host}-a", f"training/{host}-gone"
    stand_in.add_pod(present)
    attached(present, gone, "../nodes/x")
    for _ in range(2):
        await worker.process_round()
        reads = [path for _, path in stand_in.asked if host in path and "/pods/" in path]
        assert sorted(reads) == sorted(f"/api/v1/namespaces/training/pods/{pod.partition('/')[2]}" for pod in (present, gone))
    assert not [path for _, path in stand_in.asked if ".." in path]


async def test_a_fleet_with_more_nodes_than_one_statement_takes_is_stored(database: Database, backend: Any) -> None:
    at = datetime.now(UTC)
    nodes = [Node(name=f"many-{number}", uid="u", version="1").row(at) for number in range(8000)]
    async with database.write() as session:
        await stored.store_nodes(session, nodes)
    with backend.connect() as connection:
        assert connection.execute("SELECT count(*) FROM kubernetes_node WHERE host LIKE 'many-%'").fetchone() == (8000,)
        connection.execute("DELETE FROM kubernetes_node WHERE host LIKE 'many-%'")


def test_without_a_setting_the_api_server_is_never_asked(backend: Any) -> None:
    assert not is_needed(backend.settings)


async def test_outside_of_kubernetes_there_is_no_token_and_so_no_call(database: Database, settings: Settings, tmp_path: Path) -> None:
    nowhere = settings.model_copy(update={"kubernetes_token_file": tmp_path / "absent"})
    with pytest.raises(KubernetesSilent):
        await ClusterWorker(database, nowhere).process_round()
