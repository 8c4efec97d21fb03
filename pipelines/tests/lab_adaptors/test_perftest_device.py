"""The device `perftest` as a process: dry, and with programs that stand for tc and perftest's tools."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wallwatch_testing import perftest_host as host

ANSWER_S = 120
Start = Callable[..., "Device"]


class Device:
    """The adaptor's process."""

    def __init__(self, folder: Path, *options: str, **changes: Any) -> None:
        (folder / "setup.json").write_text(json.dumps(host.content(folder, **changes)))
        command = [sys.executable, "-m", "wallwatch.lab.adaptors.perftest.main", "--setup", str(folder / "setup.json"), *options]
        self.errors = folder / "stderr"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                env={**os.environ, "PATH": host.path_with(folder)},
            )  # fmt: skip

    def ask(self, **request: Any) -> dict[str, Any]:
        self.send(**request)
        return self.answer()

    def send(self, **request: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors.read_text()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def test(self, **config: Any) -> dict[str, Any]:
        return self.ask(op="test", id=1, config=config)

    def close(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(ANSWER_S)

    def end(self) -> None:
        self.process.kill()
        with self.process:
            self.process.wait()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    host.install(tmp_path)
    devices: list[Device] = []

    def begin(*options: str, **changes: Any) -> Device:
        devices.append(Device(tmp_path, *options, **changes))
        return devices[-1]

    yield begin
    for device in devices:
        device.end()


def test_a_dry_run_prints_commands_and_runs_none(start: Start, tmp_path: Path) -> None:
    device = start("--dry-run")
    assert device.ask(op="describe")["dry_run"] is True
    answer = device.test(masks=2, verb="read")
    assert answer == {"id": 1, "status": "ok", "symptoms": [], "metrics": {"bw_gbps": 1.0}, "dry_run": True}
    assert device.test(masks=1)["status"] == "ok"
    assert device.ask(op="reset", id=2) == {"id": 2, "status": "ok"}
    assert device.close() == 0
    printed = device.errors.read_text()
    assert printed.count("dry run: tc filter add dev uplink0 ingress protocol ip pref 49151") == 2
    assert printed.count("dry run: tc filter del dev uplink0 ingress protocol ip pref 49151") == 2
    assert printed.count("dry run: tc qdisc add dev uplink0 ingress") == printed.count("dry run: tc qdisc del dev uplink0 ingress") == 1
    run = "-s 65536 -q 1 -m 4096 -t 128 -D 1 -p 18515 -F --report_gbits"
    assert f"dry run: env timeout 31 ib_read_bw -d mlx5_0 {run} &\n" in printed
    assert f"dry run: ib_read_bw -d mlx5_0 {run} 192.0.2.7\n" in printed
    assert "health" in printed
    assert not (tmp_path / "state/calls").exists()
    assert not (tmp_path / "undo.jsonl").exists()


def test_tests_measure_with_their_rules_in_place_and_the_end_removes_them(start: Start, tmp_path: Path) -> None:
    device = start()
    assert "dry_run" not in device.ask(op="describe")
    assert device.test()["metrics"] == {"bw_gbps": 98.0}
    assert device.test(masks=3, flows_per_mask=2)["metrics"] == {"bw_gbps": 92.0}
    assert device.test(masks=2, flows_per_mask=1)["metrics"] == {"bw_gbps": 96.0}
    assert host.rules_of(tmp_path) == 2
    assert device.ask(op="reset", id=2) == {"id": 2, "status": "ok"}
    assert host.rules_of(tmp_path) is None
    assert device.test(masks=4)["metrics"] == {"bw_gbps": 94.0}
    assert device.close() == 0
    assert host.rules_of(tmp_path) is None


def test_an_ingress_queue_that_was_there_stays(start: Start, tmp_path: Path) -> None:
    (tmp_path / "state/queue").mkdir()
    device = start()
    assert device.test(masks=2)["status"] == "ok"
    assert device.close() == 0
    assert host.rules_of(tmp_path) == 0


def test_without_a_cordon_the_device_does_not_start(start: Start, tmp_path: Path) -> None:
    (tmp_path / "cordon" / f"{host.PCI}.json").unlink()
    for options in ((), ("--dry-run",)):
        device = start(*options)
        assert device.close() == 1
        assert "is not cordoned" in device.errors.read_text()


def test_a_cordon_that_is_removed_stops_tests_and_undoes_changes(start: Start, tmp_path: Path) -> None:
    device = start()
    assert device.test(masks=2)["status"] == "ok"
    (tmp_path / "cordon" / f"{host.PCI}.json").unlink()
    answer = device.test(masks=3)
    assert answer["status"] == "error"
    assert "is not cordoned" in answer["reason"]
    assert "all changes are undone" in answer["reason"]
    assert host.rules_of(tmp_path) is None
    host.cordon(tmp_path)
    assert device.test(masks=3)["status"] == "ok"


def test_a_sick_host_stops_the_lab_for_good(start: Start, tmp_path: Path) -> None:
    device = start()
    assert device.test(masks=2)["status"] == "ok"
    (tmp_path / "state/sick").touch()
    assert "link flaps" in device.test(masks=3)["reason"]
    assert host.rules_of(tmp_path) is None
    (tmp_path / "state/sick").unlink()
    assert device.test()["status"] == "error"
    assert device.ask(op="reset", id=2)["status"] == "ok"
    assert device.close() == 0


def test_the_emergency_stop_ends_a_running_test(start: Start, tmp_path: Path) -> None:
    device = start()
    assert device.test(masks=2)["status"] == "ok"
    (tmp_path / "state/hang").touch()
    device.send(op="test", id=5, config={"masks": 3})
    _wait_for_rules(device, tmp_path, 3)
    (tmp_path / "stop").touch()
    answer = device.answer()
    assert (answer["id"], answer["status"]) == (5, "error")
    assert "emergency stop" in answer["reason"]
    assert host.rules_of(tmp_path) is None


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_device_leaves_nothing_or_the_next_start_undoes_it(start: Start, tmp_path: Path, ending: signal.Signals) -> None:
    device = start()
    assert device.test(masks=2)["status"] == "ok"
    (tmp_path / "state/hang").touch()
    device.send(op="test", id=5, config={"masks": 3})
    _wait_for_rules(device, tmp_path, 3)
    device.process.send_signal(ending)
    status = device.process.wait(ANSWER_S)
    if ending is signal.SIGTERM:
        assert status == 0
    else:
        assert host.rules_of(tmp_path) == 3
        (tmp_path / "state/hang").unlink()
        following = start()
        assert following.ask(op="describe")["sequential"] is True
        assert following.close() == 0
    assert host.rules_of(tmp_path) is None
    assert (tmp_path / "undo.jsonl").read_text() == ""


def test_a_damaged_undo_file_stays_for_a_person(start: Start, tmp_path: Path) -> None:
    (tmp_path / "undo.jsonl").write_text("what a full disk left\n")
    device = start()
    assert device.close() == 1
    assert "undo by hand" in device.errors.read_text()
    assert (tmp_path / "undo.jsonl").read_text() == "what a full disk left\n"


def test_a_setup_that_is_refused_says_why(start: Start) -> None:
    device = start(parameters={"masks": {"max": 1000}})
    assert device.close() == 2
    assert "masks must be a whole number from 0 to 256" in device.errors.read_text()


def _wait_for_rules(device: Device, folder: Path, count: int) -> None:
    """Until the rules of the running test are in place, and its tool runs."""
    deadline = time.monotonic() + ANSWER_S
    while time.monotonic() < deadline:
        assert device.process.poll() is None
        calls = (folder / "state/calls").read_text().splitlines()
        if host.rules_of(folder) == count and calls[-1].startswith("ib_write_bw") and calls[-1].endswith("192.0.2.7"):
            return
        time.sleep(0.02)
    raise AssertionError("the test did not begin")
