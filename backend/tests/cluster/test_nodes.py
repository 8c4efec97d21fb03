"""Nodes of Kubernetes show the health of their RNICs: in conditions, Events and taints."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import httpx
import pytest

from wallwatch_backend.cluster.conditions import CONDITION
from wallwatch_backend.cluster.taints import TAINT
from wallwatch_backend.cluster.worker import ClusterWorker
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings
from wallwatch_testing.kubernetes_cluster import StandInCluster
from wallwatch_testing.kubernetes_nodes import OTHER, PCI, Cluster, shown


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
