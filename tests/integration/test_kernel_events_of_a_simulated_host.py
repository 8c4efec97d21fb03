"""What a simulated kernel prints when its host dies, restarts or loses a PCIe link arrives as events, through the real collector."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wallwatch_testing.collector import FILE_OUTPUT, Message, collecting, messages
from wallwatch_testing.simulator import simulating

pytestmark = pytest.mark.integration

RNIC = "0000:17:00.0"
INPUT = """
[[inputs.kernel_events]]
  kmsg = "kmsg"
  pstore = "pstore"
  pstore_archive = ""
  boot_id = "proc/sys/kernel/random/boot_id"
  sysfs_root = "sys"
  state_file = "kernel_events.json"
"""


def events_of(scenario: str, folder: Path, enough: Callable[[set[str]], bool], speed: float) -> dict[str, list[Message]]:
    """Events of host01 by kind, once there are enough of them."""
    with simulating(folder, scenario, speed) as hosts:
        host = hosts[0]
        output = host / "events.json"
        with collecting(host, host.name, INPUT, FILE_OUTPUT.format(path=output)):
            deadline = time.monotonic() + 120
            found: dict[str, list[Message]] = {}
            while not enough(set(found)) and time.monotonic() < deadline:
                time.sleep(0.5)
                found = {}
                for one in messages(output):
                    found.setdefault(one.tags["kind"], []).append(one)
    assert enough(set(found)), f"only {json.dumps(sorted(found))}: {(host / 'kmsg').read_text()[-2000:]}"
    return found


def test_a_crash_on_a_new_flow_is_one_oops_of_the_driver_and_a_boot_without_shutdown(tmp_path: Path) -> None:
    events = events_of("s3", tmp_path, lambda kinds: {"kernel_oops", "host_booted"} <= kinds, speed=4)
    [oops] = events["kernel_oops"]
    assert (oops.tags["pci"], oops.fields["driver"], oops.fields["operation"]) == (RNIC, "mlx5_core", "flow_creation")
    [booted] = events["host_booted"]
    assert booted.fields["shutdown"] == "none"
    assert "host_shutdown" not in events
    assert booted.timestamp_ns > oops.timestamp_ns


def test_a_reboot_by_an_operator_is_told_from_a_crash(tmp_path: Path) -> None:
    events = events_of("operator-reboots", tmp_path, lambda kinds: "host_booted" in kinds, speed=4)
    assert [one.fields["shutdown"] for one in events["host_booted"]] == ["orderly"]
    assert not {"kernel_oops", "kernel_panic"} & set(events)


def test_a_lost_pcie_link_is_told_of_the_card_below_the_port(tmp_path: Path) -> None:
    events = events_of("s7", tmp_path, lambda kinds: {"pcie_link_down", "pcie_link_up", "pcie_link_degraded"} <= kinds, speed=4)
    [lost] = events["pcie_link_down"]
    assert lost.tags["pci"] == RNIC
    assert lost.fields["device"] != RNIC, "the kernel names the port"
    assert {one.fields.get("severity") for one in events["pcie_error"]} >= {"fatal"}
