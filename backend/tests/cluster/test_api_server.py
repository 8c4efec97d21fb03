"""An API server that refuses some calls, does not answer or is not there holds up nothing else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from wallwatch_backend.cluster.conditions import CONDITION
from wallwatch_backend.cluster.worker import ClusterWorker, is_needed
from wallwatch_backend.hosts.kubernetes.api import CALLS, KubernetesSilent
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings
from wallwatch_testing.kubernetes_cluster import StandInCluster
from wallwatch_testing.kubernetes_nodes import OTHER, PCI, Cluster


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


def test_without_a_setting_the_api_server_is_never_asked(backend: Any) -> None:
    assert not is_needed(backend.settings)


async def test_outside_of_kubernetes_there_is_no_token_and_so_no_call(database: Database, settings: Settings, tmp_path: Path) -> None:
    nowhere = settings.model_copy(update={"kubernetes_token_file": tmp_path / "absent"})
    with pytest.raises(KubernetesSilent):
        await ClusterWorker(database, nowhere).process_round()
