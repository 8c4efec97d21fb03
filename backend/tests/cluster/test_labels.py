"""Labels, zones and owners of nodes and pods are shown and found."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_backend.cluster.nodes import Node
from wallwatch_backend.cluster.worker import ClusterWorker
from wallwatch_backend.hosts.kubernetes import repository as stored
from wallwatch_backend.kit.database import Database
from wallwatch_testing.kubernetes_cluster import StandInCluster
from wallwatch_testing.kubernetes_nodes import PCI, Cluster, search, shown

ZONE, INSTANCE = "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type"


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
