"""What NVSentinel says of nodes: read from the API server, shown on the RNIC's page, written into timelines.

The nodes are written as NVSentinel's public source writes them (docs/decisions/0049).
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from wallwatch_backend.cluster import node_reports
from wallwatch_backend.cluster.nvsentinel import CORDON, Report, reports_of
from wallwatch_backend.cluster.worker import RELIST, ClusterWorker
from wallwatch_backend.hosts.kubernetes import reports
from wallwatch_backend.kit import clock
from wallwatch_backend.settings import Settings
from wallwatch_testing.kubernetes_cluster import StandInCluster
from wallwatch_testing.kubernetes_nodes import OTHER, PCI, Cluster, shown

PREFIX = "k8saas.nvidia.com/"
STATE = "dgxc.nvidia.com/nvsentinel-state"
AT = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
PORT_DOWN = "NIC:mlx5_0 NICPort:1 port state DOWN, phys_state Disabled Recommended Action=REPLACE_VM;"


def check(name: str, status: str = "True", message: str = PORT_DOWN, since: datetime = AT) -> dict[str, Any]:
    """A condition as NVSentinel's platform connector sets it."""
    at = since.strftime("%Y-%m-%dT%H:%M:%SZ")
    reason = f"{name}IsNotHealthy" if status == "True" else f"{name}IsHealthy"
    return {"type": name, "status": status, "reason": reason, "message": message, "lastHeartbeatTime": at, "lastTransitionTime": at}


def cordoned(state: str = "quarantined", prefix: str = PREFIX) -> dict[str, Any]:
    """What NVSentinel's fault quarantine and node drainer write when they cordon a node, as a merge patch."""
    labels = {
        f"{prefix}cordon-by": "NVSentinel",
        f"{prefix}cordon-reason": "NIC-fatal-error",
        f"{prefix}cordon-timestamp": "2026-11-20T08-31-05Z",
    }
    annotations = {"quarantineHealthEventIsCordoned": "True", "quarantineHealthEvent": '[{"checkName":"InfiniBandStateCheck"}]'}
    return {"metadata": {"labels": {**labels, STATE: state}, "annotations": annotations}, "spec": {"unschedulable": True}}


UNCORDONED: dict[str, Any] = {
    "metadata": {
        "labels": {f"{PREFIX}cordon-by": None, f"{PREFIX}cordon-reason": None, f"{PREFIX}cordon-timestamp": None, STATE: None},
        "annotations": {"quarantineHealthEventIsCordoned": None, "quarantineHealthEvent": None},
    },
    "spec": {"unschedulable": None},
}


def document(patch: dict[str, Any] | None = None, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {**(patch or {}), "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}, *conditions]}}


def test_a_check_that_found_the_node_unhealthy_is_a_report_with_its_devices() -> None:
    message = f"{PORT_DOWN}ErrorCode:79 NIC:mlx5_1 PCI:0000:3b:00.1 firmware hung Recommended Action=REPLACE_VM;"
    [report] = reports_of(document(None, check("InfiniBandStateCheck", message=message)))
    assert (report.name, report.since, report.devices) == ("InfiniBandStateCheck", AT, ("mlx5_0", "mlx5_1", "0000:3b:00.1"))
    assert "Disabled (recommended action: REPLACE_VM); ErrorCode:79" in report.text


@pytest.mark.parametrize(
    "condition",
    [
        check("InfiniBandStateCheck", "False", "No Health Failures"),
        {**check("DiskPressure"), "reason": "KubeletHasDiskPressure"},
        {**check("InfiniBandStateCheck"), "lastTransitionTime": None},
    ],
    ids=["healthy", "of the kubelet", "without a time"],
)
def test_other_conditions_are_no_reports(condition: dict[str, Any]) -> None:
    assert reports_of(document(None, condition)) == ()


def test_a_cordon_has_its_time_reason_and_state_whatever_prefix_the_labels_have() -> None:
    for prefix in (PREFIX, "example.org/gpu-"):
        [report] = reports_of(document(cordoned("draining", prefix)))
        assert report == Report(CORDON, datetime(2026, 11, 20, 8, 31, 5, tzinfo=UTC), "NIC-fatal-error, state: draining")


def test_a_cordon_without_a_readable_time_is_as_old_as_the_oldest_check() -> None:
    patch = cordoned()
    patch["metadata"]["labels"][f"{PREFIX}cordon-timestamp"] = "yesterday"
    assert [report.since for report in reports_of(document(patch, check("GpuMemWatch")))] == [AT, AT]
    assert reports_of(document(patch)) == ()


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [("spec", "unschedulable", None), ("metadata", "annotations", {})],
    ids=["a person removed it", "of a person"],
)
def test_a_cordon_that_is_none_of_nvsentinels_is_no_report(part: str, key: str, value: object) -> None:
    patch = cordoned()
    patch[part][key] = value
    assert reports_of(document(patch)) == ()


def test_texts_have_a_bound() -> None:
    [report] = reports_of(document(None, check("GpuMemWatch", message="x" * 5000 + ";")))
    assert len(report.text) == 500


@pytest.mark.parametrize(
    "name", [CORDON, "x" * 101, "Gpu Mem", "Gpu\0Mem", ""], ids=["as a cordon", "long", "with a space", "with a NUL", "none"]
)
def test_a_condition_whose_name_no_check_has_is_no_report(name: str) -> None:
    assert reports_of(document(None, check(name))) == ()


def test_a_condition_that_is_there_twice_is_one_report() -> None:
    assert len(reports_of(document(None, check("GpuMemWatch"), check("GpuMemWatch")))) == 1


def test_what_is_not_shown_is_not_kept_of_a_message() -> None:
    [report] = reports_of(document(None, check("GpuMemWatch", message="NIC:mlx5_0\0 port\n\ud800down \u202eunwod;")))
    assert (report.text, report.devices) == ("NIC:mlx5_0 port down unwod", ("mlx5_0",))


def test_a_message_of_a_megabyte_takes_no_longer_than_its_beginning() -> None:
    """Without a bound this one takes hours, on which the test's own limit of time would end it."""
    [report] = reports_of(document(None, check("GpuMemWatch", message=f"a{' ' * 1_000_000}b")))
    assert report.text == "a"


@pytest.fixture
def listed(worker: ClusterWorker, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A function that does rounds of the worker, each so much later that it lists the nodes again."""
    later = [timedelta(0)]
    now = clock.now

    async def round_of() -> None:
        later[0] += RELIST + timedelta(seconds=1)
        monkeypatch.setattr(clock, "now", lambda: now() + later[0])
        await worker.process_round()

    return round_of


@pytest.fixture
def known(fleet: Callable[..., None], backend: Any, host: str) -> None:
    """The host's two RNICs, the first with the name that NVSentinel gives it."""
    fleet({PCI: {}, OTHER: {}})
    with backend.connect() as connection:
        connection.execute("UPDATE rnic SET ibdev = CASE pci WHEN %s THEN 'mlx5_0' ELSE 'mlx5_1' END WHERE host = %s", [PCI, host])


def of_rnic(viewer: httpx.Client, host: str, pci: str, part: str) -> dict[str, Any]:
    answer = viewer.get(f"/api/v1/rnics/{host}/{pci}{part}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def reported(viewer: httpx.Client, host: str, pci: str) -> list[dict[str, Any]]:
    """Changes of the RNIC that are of NVSentinel."""
    return [change for change in of_rnic(viewer, host, pci, "/changes")["items"] if change["data"].get("kind") == "nvsentinel"]


@pytest.mark.usefixtures("known")
async def test_the_page_of_the_rnic_shows_the_cordon_first_and_what_is_said_of_that_rnic(
    listed: Callable[..., Any], cluster: Cluster, viewer: httpx.Client, host: str
) -> None:
    cluster.add_node(host)
    memory = check("GpuMemWatch", message="GPU:0 ECC Recommended Action=NONE;")
    cluster.change_by_others(host, cordoned(), [check("InfiniBandStateCheck"), memory])
    await listed()
    said = shown(viewer, host)["nvsentinel"]
    assert [each["name"] for each in said] == ["cordon", "GpuMemWatch", "InfiniBandStateCheck"]
    assert said[0]["text"] == "NIC-fatal-error, state: quarantined"
    assert [each["name"] for each in of_rnic(viewer, host, OTHER, "")["node"]["nvsentinel"]] == ["cordon", "GpuMemWatch"], (
        "another RNIC's port is not its own"
    )
    cluster.change_by_others(host, UNCORDONED, [check("InfiniBandStateCheck", "False", "No Health Failures")])
    await listed()
    assert [each["name"] for each in shown(viewer, host)["nvsentinel"]] == ["GpuMemWatch"]


@pytest.mark.usefixtures("known")
async def test_a_report_that_names_a_device_but_no_rnic_of_the_host_is_of_the_node(
    listed: Callable[..., Any], cluster: Cluster, viewer: httpx.Client, host: str
) -> None:
    cluster.add_node(host)
    lost = "ErrorCode:79 PCI:0000:18:00 GPU_UUID:GPU-11 fell off the bus Recommended Action=RESTART_VM;"
    since = datetime.now(UTC) - timedelta(minutes=10)
    cluster.change_by_others(host, {}, [check("SysLogsXIDError", message=lost, since=since)])
    await listed()
    for pci in (PCI, OTHER):
        assert [each["name"] for each in of_rnic(viewer, host, pci, "")["node"]["nvsentinel"]] == ["SysLogsXIDError"]
        assert [change["pci"] for change in reported(viewer, host, pci)] == [""]


def entries(viewer: httpx.Client, incident: str) -> list[str]:
    answer = viewer.get(f"/api/v1/incidents/{incident}")
    assert answer.status_code == 200, answer.text
    return [entry["text"] for entry in answer.json()["timeline"] if entry["kind"] == "node"]


@pytest.mark.usefixtures("known")
async def test_the_timeline_of_an_open_incident_says_once_when_it_began_and_ended(
    listed: Callable[..., Any], cluster: Cluster, viewer: httpx.Client, incident: Callable[..., str], host: str
) -> None:
    cluster.add_node(host)
    during, resolved = incident(opened_at=AT - timedelta(hours=1)), incident(state="resolved", resolved_at=datetime.now(UTC))
    cluster.change_by_others(host, cordoned())
    for _ in range(2):
        await listed()
    assert entries(viewer, during) == [f"NVSentinel cordoned the node {host}: NIC-fatal-error, state: quarantined."]
    after = incident(opened_at=AT + timedelta(hours=1))
    cluster.change_by_others(host, cordoned("draining"))
    await listed()
    assert entries(viewer, after) == [f"NVSentinel cordoned the node {host}: NIC-fatal-error, state: draining, since 2026-11-20 08:31 UTC."]
    assert len(entries(viewer, during)) == 1
    cluster.change_by_others(host, UNCORDONED)
    for _ in range(2):
        await listed()
    for each in (during, after):
        assert entries(viewer, each)[1:] == [f"NVSentinel's cordon of the node {host} ended."]
    assert entries(viewer, resolved) == []


@pytest.mark.usefixtures("known")
async def test_what_ended_while_the_incident_was_resolved_has_ended_when_it_is_reopened(
    listed: Callable[..., Any], cluster: Cluster, viewer: httpx.Client, backend: Any, incident: Callable[..., str], host: str
) -> None:
    cluster.add_node(host)
    opened = incident(opened_at=AT - timedelta(hours=1))
    cluster.change_by_others(host, cordoned())
    await listed()
    with backend.connect() as connection:
        connection.execute("UPDATE incident SET state = 'resolved', resolved_at = now() WHERE id = %s", [opened])
    cluster.change_by_others(host, UNCORDONED)
    await listed()
    assert len(entries(viewer, opened)) == 1
    with backend.connect() as connection:
        connection.execute("UPDATE incident SET state = 'open', resolved_at = NULL WHERE id = %s", [opened])
    await listed()
    assert entries(viewer, opened)[1:] == [f"NVSentinel's cordon of the node {host} ended."]


@pytest.mark.usefixtures("known")
async def test_a_check_that_comes_and_goes_fills_neither_the_timeline_nor_the_table(
    listed: Callable[..., Any],
    cluster: Cluster,
    viewer: httpx.Client,
    backend: Any,
    incident: Callable[..., str],
    host: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_reports, "_MOST_ENTRIES", 2)
    monkeypatch.setattr(reports, "_KEPT_OF_HOST", 3)
    cluster.add_node(host)
    opened = incident(opened_at=AT - timedelta(hours=1))
    for minute in range(5):
        cluster.change_by_others(host, {}, [check("GpuMemWatch", since=AT + timedelta(minutes=minute))])
        await listed()
    cluster.change_by_others(host, {}, [check("GpuMemWatch", "False")])
    await listed()
    said = entries(viewer, opened)
    assert sum(text.endswith("ended.") for text in said) == 2
    assert sum("GpuMemWatch: NIC" in text for text in said) == 2, "two beginnings, and the end of each"
    assert [text for text in said if "more of these hosts than is listed" in text] == said[2:3], "and once that there was more"
    with backend.connect() as connection:
        kept = connection.execute("SELECT since FROM nvsentinel_report WHERE host = %s ORDER BY since", [host]).fetchall()
    assert [since for (since,) in kept] == [AT + timedelta(minutes=minute) for minute in (2, 3, 4)]


@pytest.mark.usefixtures("known")
async def test_every_open_incident_of_a_host_gets_its_entries_however_many_there_are(
    listed: Callable[..., Any],
    cluster: Cluster,
    viewer: httpx.Client,
    incident: Callable[..., str],
    host: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_reports, "_PAGE", 2)
    cluster.add_node(host)
    opened = [incident(opened_at=AT - timedelta(hours=1)) for _ in range(5)]
    cluster.change_by_others(host, cordoned())
    await listed()
    assert [len(entries(viewer, each)) for each in opened] == [1] * 5
    cluster.change_by_others(host, UNCORDONED)
    for _ in range(2):
        await listed()
    assert [len(entries(viewer, each)) for each in opened] == [2] * 5


@pytest.mark.usefixtures("known")
async def test_an_incident_of_very_many_hosts_says_once_that_there_is_more(
    listed: Callable[..., Any], cluster: Cluster, viewer: httpx.Client, incident: Callable[..., str], host: str
) -> None:
    cluster.add_node(host)
    opened = incident(opened_at=AT - timedelta(hours=1), hosts=[host, *(f"{host}-{number}" for number in range(50))])
    cluster.change_by_others(host, cordoned(), [check("GpuMemWatch")])
    for _ in range(2):
        await listed()
    assert entries(viewer, opened) == ["NVSentinel says more of 51 hosts than is listed here; the pages of their RNICs have all of it."]


@pytest.mark.usefixtures("known")
async def test_more_reports_at_once_than_a_timeline_holds_are_left_out_and_it_says_so(
    listed: Callable[..., Any],
    cluster: Cluster,
    viewer: httpx.Client,
    incident: Callable[..., str],
    host: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_reports, "_MOST_ENTRIES", 3)
    cluster.add_node(host)
    opened = incident(opened_at=AT - timedelta(hours=1))
    cluster.change_by_others(host, cordoned(), [check(f"Check{number}") for number in range(10)])
    await listed()
    said = entries(viewer, opened)
    assert sum("cordoned" in text for text in said) == 1
    assert sum("Check" in text for text in said) == 2
    assert said.count("NVSentinel says more of these hosts than is listed here; the pages of their RNICs have all of it.") == 1
    assert len(said) == 4


@pytest.mark.usefixtures("known")
async def test_changes_of_the_rnic_have_what_nvsentinel_said(
    listed: Callable[..., Any], cluster: Cluster, viewer: httpx.Client, host: str
) -> None:
    cluster.add_node(host)
    since = datetime.now(UTC) - timedelta(minutes=10)
    cluster.change_by_others(host, {}, [check("EthernetStateCheck", since=since)])
    await listed()
    [found] = reported(viewer, host, PCI)
    assert (found["kind"], found["pci"]) == ("event", PCI)
    assert found["text"].startswith("NVSentinel: EthernetStateCheck: NIC:mlx5_0 NICPort:1 port state DOWN")
    assert reported(viewer, host, OTHER) == []


@pytest.mark.usefixtures("known")
async def test_a_report_that_is_not_read_any_more_is_not_shown_as_present(
    listed: Callable[..., Any], cluster: Cluster, viewer: httpx.Client, backend: Any, host: str
) -> None:
    cluster.add_node(host)
    cluster.change_by_others(host, cordoned())
    await listed()
    with backend.connect() as connection:
        connection.execute("UPDATE nvsentinel_report SET read_at = now() - interval '16 minutes' WHERE host = %s", [host])
    assert shown(viewer, host)["nvsentinel"] == []


@pytest.mark.usefixtures("known")
async def test_when_it_is_switched_off_what_it_said_has_ended(
    listed: Callable[..., Any], cluster: Cluster, worker: ClusterWorker, viewer: httpx.Client, incident: Callable[..., str], host: str
) -> None:
    cluster.add_node(host)
    opened = incident(opened_at=AT - timedelta(hours=1))
    cluster.change_by_others(host, cordoned())
    await listed()
    async with worker._database.write() as session:
        await node_reports.end_all(session, clock.now())
    await node_reports.add_to_timelines(worker._database, {}, clock.now())
    assert shown(viewer, host)["nvsentinel"] == []
    assert entries(viewer, opened)[1:] == [f"NVSentinel's cordon of the node {host} ended."]


@pytest.mark.usefixtures("known")
async def test_nothing_is_read_of_nvsentinel_unless_it_is_switched_on(
    listed: Callable[..., Any], settings: Settings, worker: ClusterWorker, cluster: Cluster, viewer: httpx.Client, host: str
) -> None:
    worker._settings = settings.model_copy(update={"kubernetes_nvsentinel": False})
    cluster.add_node(host)
    cluster.change_by_others(host, cordoned())
    await listed()
    assert shown(viewer, host)["nvsentinel"] == []
    assert shown(viewer, host)["unschedulable"] is True


@pytest.mark.usefixtures("known")
async def test_the_right_to_list_nodes_is_all_that_it_needs(
    listed: Callable[..., Any], settings: Settings, worker: ClusterWorker, stand_in: StandInCluster, viewer: httpx.Client, host: str
) -> None:
    off = {"kubernetes_nodes": False, "kubernetes_taint": "never", "kubernetes_pods": False}
    worker._settings = settings.model_copy(update=off)
    stand_in.use("nvsentinel")
    stand_in.add_node(host)
    stand_in.change_by_others(host, cordoned())
    await listed()
    assert [each["name"] for each in shown(viewer, host)["nvsentinel"]] == [CORDON]
    assert {(method, path) for method, path in stand_in.asked} == {("GET", "/api/v1/nodes")}
