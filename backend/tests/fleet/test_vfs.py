"""The virtual functions of an RNIC, from samples and CNI events as `ingest` writes them."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest

from wallwatch.store.tables import vf_sample
from wallwatch_testing.packed_hours import pack_rnic

PCI = "0000:3b:00.0"
NOW = datetime.now(UTC).replace(microsecond=0)
SAMPLED = NOW - timedelta(seconds=100)


def device(vf: int) -> str:
    return f"0000:3b:00.{vf + 2}"


class Host:
    """One host with one RNIC; each test has its own."""

    def __init__(self, connection: psycopg.Connection[Any], name: str) -> None:
        self.connection, self.name = connection, name
        row = connection.execute("INSERT INTO rnic (host, pci) VALUES (%s, %s) RETURNING rnic_id", [name, PCI]).fetchone()
        assert row is not None
        self.rnic_id = row[0]
        row = connection.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", [name]).fetchone()
        assert row is not None
        self.host_id = row[0]

    def sample(self, vf: int, at: datetime = SAMPLED, **values: Any) -> None:
        columns = {"time": at, "rnic_id": self.rnic_id, "vf": vf, "vf_pci": device(vf), **values}
        names, marks = ", ".join(columns), ", ".join(["%s"] * len(columns))
        self.connection.execute(f"INSERT INTO vf_sample ({names}) VALUES ({marks})", list(columns.values()))  # type: ignore[arg-type]

    def rnic(self, at: datetime, numvfs: int) -> None:
        self.connection.execute(
            "INSERT INTO rnic_sample (time, rnic_id, sriov_numvfs, other) VALUES (%s, %s, %s, %s)",
            [at, self.rnic_id, numvfs, json.dumps({"sriov_totalvfs": 16})],
        )

    def event(self, kind: str, seconds_ago: float, pci: str = PCI, **other: Any) -> None:
        self.connection.execute(
            "INSERT INTO event (time, host_id, pci, kind, other) VALUES (%s, %s, %s, %s, %s)",
            [NOW - timedelta(seconds=seconds_ago), self.host_id, pci, kind, json.dumps(other)],
        )

    def add(self, seconds_ago: float, vf: int = 0, container: str = "c0ffee", **other: Any) -> None:
        self.event("cni_add", seconds_ago, device=device(vf), container=container, interface="net1", **{"result": "ok", **other})

    def delete(self, seconds_ago: float, vf: int = 0, container: str = "c0ffee", **other: Any) -> None:
        self.event("cni_del", seconds_ago, device=device(vf), container=container, interface="net1", **{"result": "ok", **other})


@pytest.fixture
def host(backend: Any, request: pytest.FixtureRequest) -> Any:
    with backend.connect() as connection:
        yield Host(connection, f"host-{abs(hash(request.node.name)) % 10**9}")


@pytest.fixture
def read(viewer: httpx.Client, host: Host) -> Callable[[], dict[str, Any]]:
    def get() -> dict[str, Any]:
        answer = viewer.get(f"/api/v1/rnics/{host.name}/{PCI}/vfs")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    return get


Read = Callable[[], dict[str, Any]]


def test_an_anonymous_caller_sees_no_virtual_functions(anonymous: httpx.Client) -> None:
    assert anonymous.get(f"/api/v1/rnics/host01/{PCI}/vfs").status_code == 401


def test_an_rnic_that_never_sent_anything_is_not_found(viewer: httpx.Client) -> None:
    answer = viewer.get(f"/api/v1/rnics/nowhere/{PCI}/vfs")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert "No telemetry" in answer.json()["detail"]


def test_an_rnic_without_functions_has_an_empty_list(host: Host, read: Read) -> None:
    host.rnic(NOW, 0)
    assert read() == {"at": None, "stale_after_s": 360, "numvfs": 0, "totalvfs": 16, "items": []}


def test_functions_are_those_of_the_newest_sample_in_the_order_of_their_numbers(host: Host, read: Read) -> None:
    host.sample(0, at=SAMPLED - timedelta(minutes=2), tx_gbps=9)
    for vf in (10, 2, 0):
        host.sample(
            vf, tx_gbps=vf, state="host", driver="mlx5_core", trust="on", spoof_check="off", representor=f"ens1f0_{vf}", max_tx_mbps=0
        )
    found = read()
    assert [(item["vf"], item["tx_gbps"]) for item in found["items"]] == [(0, 0), (2, 2), (10, 10)]
    assert datetime.fromisoformat(found["at"]) == SAMPLED
    first = found["items"][0]
    assert (first["pci"], first["representor"], first["netdev"], first["state"]) == (device(0), "ens1f0_0", None, "host")
    assert (first["trust"], first["spoof_check"], first["max_tx_mbps"], first["container"]) == (True, False, 0, None)


def test_functions_of_packed_hours_are_the_same(host: Host, read: Read) -> None:
    for hours in (5, 3):
        for vf in (2, 0):
            host.sample(vf, at=SAMPLED - timedelta(hours=hours), tx_gbps=hours, state="host", driver="mlx5_core")
    host.rnic(SAMPLED, 8)
    before = read()
    pack_rnic(host.connection, vf_sample, host.rnic_id)
    assert read() == before
    assert [(item["vf"], item["tx_gbps"]) for item in before["items"]] == [(0, 3), (2, 3)]


def test_what_was_not_read_is_null_never_zero(host: Host, read: Read) -> None:
    host.sample(0)
    (item,) = read()["items"]
    for name in ("state", "driver", "tx_gbps", "rx_gbps", "drops_per_s", "max_tx_mbps", "trust", "spoof_check", "link_state", "mac"):
        assert item[name] is None, name


def test_functions_that_were_removed_since_their_sample_are_left_out(host: Host, read: Read) -> None:
    for vf in range(3):
        host.sample(vf)
    host.rnic(SAMPLED - timedelta(seconds=10), 0)
    assert len(read()["items"]) == 3, "the RNIC's sample is older than the functions' and proves nothing"
    host.rnic(SAMPLED + timedelta(seconds=10), 1)
    assert [item["vf"] for item in read()["items"]] == [0]


def test_a_function_is_listed_with_its_container_and_the_containers_addresses(host: Host, read: Read) -> None:
    host.sample(0)
    host.sample(1)
    host.add(500, pod="ml/trainer-0", address="10.0.0.2/24,fd00::2/64", vxlan_network=4097)
    held, free = read()["items"]
    assert held["container"] == {
        "id": "c0ffee", "pod": "ml/trainer-0", "interface": "net1", "addresses": ["10.0.0.2/24", "fd00::2/64"], "vxlan_network": 4097,
        "since": (NOW - timedelta(seconds=500)).isoformat().replace("+00:00", "Z"), "owner": None, "labels": {},
    }  # fmt: skip
    assert free["container"] is None


def test_a_pod_that_kubernetes_described_has_its_owner_and_labels(host: Host, read: Read, backend: Any) -> None:
    host.sample(0)
    host.add(500, pod=f"ml/{host.name}-0")
    with backend.connect() as connection:
        connection.execute(
            "INSERT INTO kubernetes_pod (pod, owner, labels, found, read_at) VALUES (%s, 'StatefulSet/trainer', %s, true, now())",
            [f"ml/{host.name}-0", json.dumps({"app": "trainer"})],
        )
    held = read()["items"][0]["container"]
    assert (held["owner"], held["labels"]) == ("StatefulSet/trainer", {"app": "trainer"})


def test_a_released_function_has_no_container_until_it_is_assigned_again(host: Host, read: Read) -> None:
    host.sample(0)
    host.add(500)
    host.delete(400)
    assert read()["items"][0]["container"] is None
    host.delete(300, repeated=True)
    host.add(200, container="beef")
    assert read()["items"][0]["container"]["id"] == "beef"


def test_a_refused_add_gave_nothing(host: Host, read: Read) -> None:
    host.sample(0)
    host.sample(1)
    host.add(500)
    host.add(400, container="beef", result="refused")
    host.add(300, vf=1, container="beef", result="refused")
    assert [item["container"] and item["container"]["id"] for item in read()["items"]] == ["c0ffee", None]


def test_a_del_that_does_not_know_the_device_any_more_takes_the_function_back(host: Host, read: Read) -> None:
    host.sample(0)
    host.sample(1)
    host.add(500)
    host.add(499, vf=1, container="beef")
    host.event("cni_del", 400, pci="", container="c0ffee", interface="net2", result="ok")
    assert read()["items"][0]["container"] is not None, "another interface of the same container"
    host.event("cni_del", 300, pci="", container="c0ffee", interface="net1", result="ok")
    assert [item["container"] and item["container"]["id"] for item in read()["items"]] == [None, "beef"]


def test_after_a_boot_of_the_host_no_earlier_container_has_a_function(host: Host, read: Read) -> None:
    host.sample(0)
    host.sample(1)
    host.add(500)
    host.event("host_booted", 400, pci="", boot_id="x")
    host.add(300, vf=1, container="beef")
    assert [item["container"] and item["container"]["id"] for item in read()["items"]] == [None, "beef"]


def test_events_of_another_host_with_the_same_addresses_do_not_count(host: Host, read: Read) -> None:
    host.sample(0)
    Host(host.connection, f"{host.name}-b").add(100)
    assert read()["items"][0]["container"] is None
