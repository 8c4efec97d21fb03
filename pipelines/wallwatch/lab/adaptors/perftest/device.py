"""A cordoned RNIC as a device under test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from wallwatch.lab.adaptors.perftest import flower, vfs
from wallwatch.lab.adaptors.perftest.benchmark import bandwidth_gbps
from wallwatch.lab.adaptors.perftest.changes import Change, Changes
from wallwatch.lab.adaptors.perftest.guard import Guard, Refused
from wallwatch.lab.adaptors.perftest.kernel_log import KernelLog
from wallwatch.lab.adaptors.perftest.operations import Executor
from wallwatch.lab.adaptors.perftest.setup import LIMITS, Setup
from wallwatch.lab.adaptors.serve import Description, DeviceFailed, Measured, Metric

METRICS = (Metric("bw_gbps", "Gbit/s", "higher"),)
SYMPTOMS = ("S2", "S3", "S7", "S8")
_QUERY_TIMEOUT_S = 30


@dataclass
class Rnic:
    """The device."""

    setup: Setup
    executor: Executor
    changes: Changes
    guard: Guard
    functions: list[vfs.VirtualFunction]
    log: KernelLog | None

    @property
    def description(self) -> Description:
        return Description(
            f"perftest {self.setup.pci}",
            f"RNIC {self.setup.pci} ({self.setup.rdma_device}) of this host against {self.setup.peer}",
            self.setup.parameters,
            METRICS,
            SYMPTOMS if self.log is not None else (),
            sequential=True,
            seconds_per_test=self.setup.run_seconds + 3,
            marks=self._marks,
        )

    @property
    def _marks(self) -> dict[str, Any] | None:
        return {"dry_run": True} if self.executor.dry else None

    def test(self, config: Mapping[str, Any]) -> Measured:
        full = {parameter.name: parameter.default for parameter in LIMITS} | dict(config)
        try:
            self.guard.check()
            self.guard.check_health()
            if self.log is not None:
                self.log.symptoms()  # what came before this test
            self._apply(full)
            bandwidth = bandwidth_gbps(self.setup, full, self.executor, self.guard.check)
            symptoms = self.log.symptoms() if self.log is not None else []
            self.guard.check_health()
        except Refused as refusal:
            raise DeviceFailed(f"{refusal}{_unfinished(self.changes.undo_all())}") from refusal
        return Measured({"bw_gbps": round(bandwidth, 3)}, symptoms, self._marks)

    def reset(self) -> None:
        """Undo every change. This is allowed at any time, also without a cordon."""
        failed = self.changes.undo_all()
        if failed:
            raise DeviceFailed(f"not undone: {'; '.join(failed)}")

    def _apply(self, config: Mapping[str, Any]) -> None:
        """Undo what the configuration does not have, then make what is missing."""
        wanted = self._wanted(config)
        names = {change.what for change in wanted}
        self.changes.undo([name for name in self.changes.made if name not in names])
        for change in wanted:
            self.changes.make(change, self.guard.check)

    def _wanted(self, config: Mapping[str, Any]) -> list[Change]:
        wanted: list[Change] = []
        varied = {parameter.name for parameter in self.setup.parameters}
        if config["masks"]:
            queue = flower.qdisc(self.setup.netdev)
            # A queue that was there before the lab stays; Open vSwitch's offload has one.
            if queue.what in self.changes.made or not self._has_queue():
                wanted.append(queue)
            wanted += flower.rules(self.setup.netdev, config["masks"], config["flows_per_mask"])
        if "vfs" in varied:
            wanted += vfs.changes(self.setup.sysfs, self.functions, config["vfs"])
        return wanted

    def _has_queue(self) -> bool:
        shown = self.executor.do(flower.shown(self.setup.netdev), _QUERY_TIMEOUT_S, self.guard.check)
        return "ingress" in shown or "clsact" in shown


def _unfinished(failed: list[str]) -> str:
    return f"; not undone: {'; '.join(failed)}" if failed else "; all changes are undone"


@contextmanager
def opened(setup: Setup, executor: Executor) -> Iterator[Rnic]:
    """The device for the length of the block; whatever ends the block, all changes are undone.

    Raises
    ------
    DeviceFailed
        If the RNIC is not cordoned, the emergency stop is on, the host is sick, another lab is at work, or changes that a killed
        lab left could not be undone.
    """
    guard = Guard(setup, executor)
    with ExitStack() as stack:
        changes = Changes(executor, setup.undo_file, setup.changes_per_second)
        stack.callback(_close, changes)
        failed = changes.open()
        if failed:
            raise DeviceFailed(f"changes of a lab that was killed could not be undone: {'; '.join(failed)}")
        guard.check()
        guard.check_health()
        functions: list[vfs.VirtualFunction] = []
        if any(parameter.name == "vfs" for parameter in setup.parameters):
            functions = vfs.found(setup.sysfs, setup.pci)
            _check_range(setup, len(functions))
        log = None
        if setup.kernel_log is not None:
            log = KernelLog(setup.kernel_log)
            stack.callback(log.close)
        yield Rnic(setup, executor, changes, guard, functions, log)


def _check_range(setup: Setup, functions: int) -> None:
    most = next(parameter.maximum for parameter in setup.parameters if parameter.name == "vfs")
    if most > functions:
        raise DeviceFailed(f"the setup allows {most} VFs, and {setup.pci} has {functions}; lower the range of vfs")


def _close(changes: Changes) -> None:
    failed = changes.close()
    if failed:
        raise DeviceFailed(f"not undone, will be tried again at the next start: {'; '.join(failed)}")
