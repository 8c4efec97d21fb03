"""A host for the device `perftest`: a setup, and programs that stand for tc and perftest's tools."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wallwatch.lab.adaptors.perftest.operations import Command, Operation
from wallwatch.lab.adaptors.serve import DeviceFailed

PCI = "0000:3b:00.0"

TC = """#!/bin/sh
echo "tc $*" >> {state}/calls
case "$1 $2" in
"qdisc show") [ -e {state}/queue ] && echo "qdisc ingress ffff: dev uplink0"; exit 0 ;;
"qdisc add") mkdir {state}/queue ;;
"qdisc del") rmdir {state}/queue ;;
"filter add") [ -d {state}/queue ] && mkdir "{state}/queue/${{11}}" ;;
"filter del") rmdir "{state}/queue/${{11}}" ;;
esac
"""
"""Knows the ingress queue as a folder and its rules as folders in it. The eleventh word is the rule's handle."""

TOOL = """#!/bin/sh
echo "$(basename "$0") $*" >> {state}/calls
for last; do :; done
[ "$last" = 192.0.2.7 ] || exec sleep 10
[ -e {state}/hang ] && exec sleep 30
rules=$(ls {state}/queue 2>/dev/null | wc -l)
cat <<TABLE
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      1000             99.00            $((98 - rules)).00               0
TABLE
"""
"""Without an address as the last word it is the peer's side, which waits. Each rule costs 1 Gbit/s."""

HEALTH = """#!/bin/sh
[ -e {state}/sick ] && {{ echo "link flaps" >&2; exit 3; }}
exit 0
"""


def content(folder: Path, **changes: Any) -> dict[str, Any]:
    """Entries of a setup whose files are in a folder."""
    return {
        "pci": PCI, "netdev": "uplink0", "rdma_device": "mlx5_0", "peer": "192.0.2.7", "peer_command": ["env"],
        "health_command": [str(folder / "bin/health")], "changes_per_second": 1000, "run_seconds": 1,
        "cordon_dir": str(folder / "cordon"), "stop_file": str(folder / "stop"), "undo_file": str(folder / "undo.jsonl"),
        "sysfs": str(folder / "sys"),
        "parameters": {"verb": {}, "masks": {"max": 32}, "flows_per_mask": {"max": 4}},
    } | changes  # fmt: skip


def install(folder: Path) -> None:
    """Put the programs into `bin`, and cordon the RNIC."""
    state = folder / "state"
    state.mkdir()
    (folder / "bin").mkdir()
    for name, text in {"tc": TC, "health": HEALTH, "ib_write_bw": TOOL, "ib_send_bw": TOOL, "ib_read_bw": TOOL}.items():
        program = folder / "bin" / name
        program.write_text(text.format(state=state))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
    cordon(folder)


def cordon(folder: Path, record: str = f'{{"pci": "{PCI}", "reason": "lab"}}') -> None:
    (folder / "cordon").mkdir(exist_ok=True)
    (folder / "cordon" / f"{PCI}.json").write_text(record)


def path_with(folder: Path) -> str:
    return f"{folder / 'bin'}:{os.environ['PATH']}"


def rules_of(folder: Path) -> int | None:
    """Rules in the ingress queue; None without a queue."""
    queue = folder / "state/queue"
    return len(list(queue.iterdir())) if queue.is_dir() else None


class Recorder:
    """An executor that notes operations, and fails those whose text has one of `failing`."""

    dry = False

    def __init__(self) -> None:
        self.done: list[str] = []
        self.slept: list[float] = []
        self.failing: set[str] = set()

    def do(self, operation: Operation, timeout_s: float, check: Callable[[], None]) -> str:
        check()
        self.done.append(str(operation))
        if any(part in str(operation) for part in self.failing):
            raise DeviceFailed(f"{operation}: refused")
        return ""

    @contextmanager
    def running(self, command: Command) -> Iterator[None]:
        self.done.append(f"{command} &")
        yield

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
