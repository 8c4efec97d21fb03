"""What a simulated kernel prints when its host dies, restarts or loses a PCIe link arrives as events, through the real collector."""

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from wallwatch_testing.collector import FILE_OUTPUT, Message, collecting, messages
from wallwatch_testing.simulator import simulating

pytestmark = pytest.mark.integration

RNIC = "0000:17:00.0"
SCENARIO = """# What befalls the hosts of s3, operator-reboots and s7, a host each.
name: kernel-events
seed: 23
topology: {racks: 1, hosts: 3, rnics_per_host: 2, models: [CX-6, CX-7], firmware: fixed, externals: 40, driver: flawed}
workload:
  - {kind: training, containers: 2, flows: 24, gbps: 6}
  - {kind: microservices, containers: 3, flows: 60, gbps: 3, flow_lifetime: 45s, container_lifetime: 10m}
overrides:
  - {host: host03, rnic: "0000:17:00.0", workload: [{kind: training, containers: 2, flows: 24, gbps: 6}]}
events:
  - at: 10s
    for: 60s
    host: host01
    rnic: "0000:17:00.0"
    job: {kind: training, name: a job that outgrows the flow table, containers: 8, flows: 24000, masks: 3, gbps: 60, ramp: 40s}
  - {at: 40s, host: host02, operator: reboot}
  - at: 10s
    for: 50s
    host: host03
    rnic: "0000:17:00.0"
    job: {kind: training, name: a job that ends, containers: 14, flows: 4200, gbps: 60, ramp: 15s}
"""
AWAITED = {
    "host01": {"kernel_oops", "host_booted"},
    "host02": {"host_booted"},
    "host03": {"pcie_link_down", "pcie_link_up", "pcie_link_degraded"},
}
INPUT = """
[[inputs.kernel_events]]
  kmsg = "kmsg"
  pstore = "pstore"
  pstore_archive = ""
  boot_id = "proc/sys/kernel/random/boot_id"
  sysfs_root = "sys"
  state_file = "kernel_events.json"
"""


Events = dict[str, list[Message]]


@pytest.fixture(scope="module")
def received(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Events]]:
    """Events by host and kind, once each host has sent the expected ones."""
    folder = tmp_path_factory.mktemp("k")
    file = folder / "kernel-events.yaml"
    file.write_text(SCENARIO)
    with simulating(folder, file, speed=4) as hosts, ExitStack() as collectors:
        for host in hosts:
            collectors.enter_context(collecting(host, host.name, INPUT, FILE_OUTPUT.format(path=host / "events.json")))
        deadline = time.monotonic() + 240
        while True:
            found = {host.name: by_kind(messages(host / "events.json")) for host in hosts}
            missing = {host.name: AWAITED[host.name] - found[host.name].keys() for host in hosts}
            if not any(missing.values()):
                break
            assert time.monotonic() < deadline, [
                (name, kinds, (folder / "hosts" / name / "kmsg").read_text()[-2000:]) for name, kinds in missing.items() if kinds
            ]
            time.sleep(0.5)
        yield found


def by_kind(events: list[Message]) -> Events:
    found: Events = {}
    for one in events:
        found.setdefault(one.tags["kind"], []).append(one)
    return found


def test_a_crash_on_a_new_flow_is_one_oops_of_the_driver_and_a_boot_without_shutdown(received: dict[str, Events]) -> None:
    events = received["host01"]
    [oops] = events["kernel_oops"]
    assert (oops.tags["pci"], oops.fields["driver"], oops.fields["operation"]) == (RNIC, "mlx5_core", "flow_creation")
    [booted] = events["host_booted"]
    assert booted.fields["shutdown"] == "none"
    assert "host_shutdown" not in events
    assert booted.timestamp_ns > oops.timestamp_ns


def test_a_reboot_by_an_operator_differs_from_a_crash(received: dict[str, Events]) -> None:
    events = received["host02"]
    assert [one.fields["shutdown"] for one in events["host_booted"]] == ["orderly"]
    assert not {"kernel_oops", "kernel_panic"} & set(events)


def test_a_lost_pcie_link_is_reported_for_the_rnic_below_the_port(received: dict[str, Events]) -> None:
    events = received["host03"]
    [lost] = events["pcie_link_down"]
    assert lost.tags["pci"] == RNIC
    assert lost.fields["device"] != RNIC, "the kernel names the port"
    assert {one.fields.get("severity") for one in events["pcie_error"]} >= {"fatal"}
