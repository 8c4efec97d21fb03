"""Symptoms from nothing but the text that a host shows: kernel log, pstore, boot id, sysfs and what a CNI plugin left, read by the real
collector and judged by the stage that the job runs. Nothing here comes from the simulator."""

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from wallwatch.domain.symptoms.host_stage import step
from wallwatch.domain.telemetry.decode import Message
from wallwatch_testing.collector import gather_once
from wallwatch_testing.sysfs import write_rnic

pytestmark = pytest.mark.integration

FLOWS, LINK, DEAD = "0000:17:00.0", "0000:3b:00.0", "0000:86:00.0"
"""RNICs: one whose driver hangs, one whose PCIe link goes, one that stops."""
INPUTS = """
[[inputs.kernel_events]]
  kmsg = "kmsg"
  pstore = "pstore"
  pstore_archive = ""
  boot_id = "boot_id"
  sysfs_root = "sys"
  state_file = "state.json"
[[inputs.cni_events]]
  event_dir = "cni"
  sysfs_root = "sys"
[[inputs.rnic]]
  sysfs_root = "sys"
"""
QUIET = ["6,1,1000000,-;Linux version 6.8.0-40-generic"]
TROUBLE = [
    f"4,10,3600000000,-;mlx5_core {FLOWS}: wait_func:1190:(pid 2105): SET_FLOW_TABLE_ENTRY(0x936) timeout. "
    "Will cause a leak of a command resource",
    "0,11,3601000000,-;watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [handler7:2105]",
    "4,12,3601000010,-;CPU: 3 PID: 2105 Comm: handler7 Not tainted 6.8.0-40-generic #40",
    "4,13,3601000020,-;RIP: 0010:native_queued_spin_lock_slowpath+0x2a/0x2d0",
    "4,14,3601000030,-;Call Trace:",
    "4,15,3601000040,-; <TASK>",
    "4,16,3601000050,-; mlx5_cmd_exec+0x24/0x50 [mlx5_core]",
    "4,17,3601000060,-; mlx5_cmd_set_fte+0x1a4/0x2d0 [mlx5_core]",
    "4,18,3601000070,-; </TASK>",
    f"3,20,3602000000,-;mlx5_core {DEAD}: poll_health:823:(pid 0): device's health compromised - reached miss count",
    "4,21,3603000000,-;pcieport 0000:3a:01.0: pciehp: Slot(59): Link Down",
    "6,30,3604000000,-;audit: the end of the log",
]
DUMP = """Panic#1 Part1
<1>[ 3700.000000] BUG: kernel NULL pointer dereference, address: 0000000000000010
<4>[ 3700.000100] CPU: 4 PID: 2105 Comm: handler7 Not tainted 6.8.0
<4>[ 3700.000200] RIP: 0010:mlx5_cmd_set_fte+0x14/0xb0 [mlx5_core]
<4>[ 3700.000300] Call Trace:
<4>[ 3700.000400]  <TASK>
<4>[ 3700.000500]  mlx5_add_flow_rules+0x4b/0x60 [mlx5_core]
<4>[ 3700.000600]  </TASK>
<4>[ 3700.000700] ---[ end trace 0000000000000000 ]---
<0>[ 3700.000800] Kernel panic - not syncing: Fatal exception
"""


class Host:
    """A folder that represents a host, and its findings so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state: Any = None
        self.found: dict[str, dict[str, Any]] = {}
        for number, (pci, port) in enumerate({FLOWS: "0000:16:01.0", LINK: "0000:3a:01.0", DEAD: "0000:85:01.0"}.items()):
            write_rnic(folder / "sys", pci, f"mlx5_{number}", f"up{number}", [], port)
        (folder / "pstore").mkdir()
        self.boots("5d1c3b0e-6a55-4c3e-9a58-6b5f1f4a0001", QUIET)

    def boots(self, boot_id: str, lines: Iterable[str]) -> None:
        (self.folder / "boot_id").write_text(f"{boot_id}\n")
        (self.folder / "kmsg").write_text("".join(f"{line}\n" for line in lines))

    def says(self, lines: Iterable[str]) -> None:
        with (self.folder / "kmsg").open("a") as log:
            log.writelines(f"{line}\n" for line in lines)

    def releases(self, pci: str, vf: str) -> None:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        event = {"at": at, "command": "DEL", "container": "c0ffee", "interface": "eth0", "device": vf, "rnic": pci, "result": "ok"}
        part = self.folder / "cni" / ".1-1.part"
        part.write_text(json.dumps({**event, "duration_ns": 1000}))
        part.rename(part.with_name("1-1.json"))

    def crashes(self, dump: str, boot_id: str) -> None:
        """The kernel dies half a minute ago, its collector with it, and another one has just started."""
        kept = self.folder / "pstore" / "dmesg-erst-1"
        kept.write_text(dump)
        died = time.time() - 30
        os.utime(kept, (died, died))
        state = self.folder / "state.json"
        state.write_text(json.dumps({name: value for name, value in json.loads(state.read_text()).items() if name != "stopped_at"}))
        self.boots(boot_id, QUIET)

    def look(self) -> None:
        for one in gather_once(self.folder, "host01", INPUTS):
            if one.name in ("rnic", "event"):
                self.state, findings = step(self.state, Message(one.name, one.tags, one.timestamp_ns, one.fields))
                self.found |= {f"{f['symptom']} {f['pci']}".strip(): f for f in findings}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    one = Host(tmp_path_factory.mktemp("host"))
    one.look()
    assert one.found == {}
    one.releases(LINK, "0000:3b:00.2")
    one.says(TROUBLE)
    one.look()
    return one


def test_a_soft_lockup_in_the_log_alone_is_s2_of_c2(host: Host) -> None:
    finding = host.found[f"S2 {FLOWS}"]
    assert finding["hypotheses"][0]["cause"] == "C2"


def test_a_link_that_goes_down_after_a_container_gave_its_function_back_is_s7_of_c7(host: Host) -> None:
    finding = host.found[f"S7 {LINK}"]
    assert finding["hypotheses"][0]["cause"] == "C7"


def test_a_health_counter_that_the_driver_finds_standing_still_is_s8_of_c8(host: Host) -> None:
    finding = host.found[f"S8 {DEAD}"]
    assert finding["hypotheses"][0]["cause"] == "C8"


def test_nothing_else_is_reported_of_them(host: Host) -> None:
    assert {name for name in host.found if not name.startswith("S3")} == {f"S2 {FLOWS}", f"S7 {LINK}", f"S8 {DEAD}"}


def test_what_pstore_kept_and_another_boot_id_are_s3_of_c3(host: Host) -> None:
    host.crashes(DUMP, "5d1c3b0e-6a55-4c3e-9a58-6b5f1f4a0002")
    host.look()
    [finding] = [finding for name, finding in host.found.items() if name.startswith("S3")]
    assert finding["hypotheses"][0]["cause"] == "C3"
