"""The lab's device `ovs`: a real switch with real packets. Counts are compared, never times, so a busy machine changes nothing."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wallwatch.lab.adaptors.ovs import switch
from wallwatch.lab.adaptors.ovs.namespace import missing

pytestmark = pytest.mark.integration

ANSWER_S = 120
"""Of a machine on which everything else runs too."""


class Device:
    """The adaptor's process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wallwatch.lab.adaptors.ovs.main", "--slices=2", "--slow-lookups=16"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(folder)},
        )  # fmt: skip

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the device ended with status {self.process.wait(ANSWER_S)}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def answers(self) -> bool:
        """Whether the device could be opened."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write('{"op":"describe"}\n')
        self.process.stdin.flush()
        return bool(self.process.stdout.readline())

    def lookups(self, **config: Any) -> float:
        answer = self.ask(op="test", id=1, config=config)
        # Lost or late packets on a busy machine are an error of the device; the protocol asks for another try.
        if answer["status"] == "error":
            answer = self.ask(op="test", id=1, config=config)
        assert answer["status"] == "ok", answer
        assert answer["metrics"]["relative_cost"] > 0
        lookups = float(answer["metrics"]["lookups_per_packet"])
        assert answer["symptoms"] == (["S6"] if lookups >= 16 else [])
        return lookups

    def daemons(self) -> list[int]:
        """Processes of this device's switch: their sockets are in its folder."""
        return [int(p.name) for p in Path("/proc").iterdir() if p.name.isdecimal() and str(self.folder) in _command_line(p)]

    def close(self) -> int:
        """End the requests; the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(ANSWER_S)

    def end(self) -> None:
        """Kill it, if it still runs."""
        self.process.kill()
        with self.process:
            self.process.wait()


def _command_line(process: Path) -> str:
    try:
        return (process / "cmdline").read_text(errors="replace")
    except OSError:
        return ""


@pytest.fixture(scope="module")
def short_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("o")


@pytest.fixture
def device(short_folder: Path) -> Iterator[Device]:
    """Without the right to create network namespaces the tests are skipped, but not in CI, where they have to be possible."""
    absent = missing(switch.PROGRAMS)
    assert not absent, f"not installed: {', '.join(absent)}; run 'make setup'"
    started = Device(short_folder)
    try:
        if os.geteuid() != 0 and not os.environ.get("CI") and not started.answers():
            pytest.skip("without root, and without user namespaces that may open /dev/net/tun, there is no real switch")
        yield started
    finally:
        started.end()


def test_packets_search_masks_one_after_another_unless_a_cache_knows_them(device: Device) -> None:
    description = device.ask(op="describe")
    assert {metric["name"] for metric in description["metrics"]} == {"relative_cost", "lookups_per_packet"}
    assert {parameter["name"] for parameter in description["parameters"]} >= {"masks", "emc", "smc", "vxlan", "conntrack"}
    # Masks are searched in turn and used equally often: on average half of them and one half.
    for masks in (1, 8, 64):
        assert device.lookups(masks=masks, emc=False) == pytest.approx((masks + 1) / 2, rel=0.02)
    assert device.lookups(masks=64, emc=True) == pytest.approx(1, abs=0.1)
    assert device.lookups(masks=64, emc=False, smc=True) == pytest.approx(1, abs=0.1)
    # More flows behind the same masks, other packets, tunnel, tables and expiry do not change the search.
    assert device.lookups(
        masks=8, emc=False, flows_per_mask=4, ports=2, packet_bytes=1400, vxlan=True, openflow_tables=32, max_idle_ms=5000
    ) == pytest.approx(4.5, rel=0.02)
    # The tracker sends each packet through the datapath twice, with one more mask for the first pass.
    assert 4.5 < device.lookups(masks=8, emc=False, conntrack=True) < 8
    assert device.ask(op="reset", id=2) == {"id": 2, "status": "ok"}
    assert device.lookups() == pytest.approx(1, abs=0.1)
    assert device.ask(op="test", id=3, config={"masks": 1000})["status"] == "invalid"
    assert device.daemons()
    assert device.close() == 0
    assert device.daemons() == []
    assert list(device.folder.iterdir()) == []


def test_a_switch_that_dies_is_an_error_and_the_next_test_has_a_new_one(device: Device) -> None:
    assert device.lookups() == pytest.approx(1, abs=0.1)
    daemon = next(pid for pid in device.daemons() if "ovs-vswitchd" in _command_line(Path(f"/proc/{pid}")))
    os.kill(daemon, signal.SIGKILL)
    answer = device.ask(op="test", id=1, config={})
    assert (answer["status"], answer["id"]) == ("error", 1)
    assert "ovs-vswitchd" in answer["reason"]
    assert device.lookups(masks=4, emc=False) == pytest.approx(2.5, rel=0.02)
    device.process.send_signal(signal.SIGTERM)
    assert device.process.wait(ANSWER_S) == 0
    assert device.daemons() == []
    assert list(device.folder.iterdir()) == []


def test_a_killed_device_leaves_no_process_and_the_next_one_removes_its_files(device: Device) -> None:
    assert device.ask(op="describe")["name"] == "ovs"
    daemons = device.daemons()
    assert len(daemons) == 2
    device.process.kill()
    device.process.wait()
    # The kernel ends them; the files wait for the next device.
    for pid in daemons:
        _wait_for_end(pid)
    (left,) = device.folder.iterdir()
    following = Device(device.folder)
    assert following.ask(op="describe")["name"] == "ovs"
    assert not left.exists()
    status = following.close()
    following.end()
    assert status == 0


def _wait_for_end(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        readable, _, _ = select.select([descriptor], [], [], ANSWER_S)
        assert readable, f"process {pid} goes on"
    finally:
        os.close(descriptor)
