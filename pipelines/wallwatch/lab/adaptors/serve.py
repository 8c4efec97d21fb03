"""The device's side of dut/1: one JSON request per line in, one JSON answer per line out, in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO

from wallwatch.lab.adaptors.parameters import Parameter, completed


class DeviceFailed(RuntimeError):
    """The device could not do what was asked; the message gives the reason. A retry may pass."""


@dataclass(frozen=True)
class Metric:
    """A number that a test returns."""

    name: str
    unit: str
    better: str
    """"higher" or "lower"."""


@dataclass(frozen=True)
class Measured:
    """What a test found. `marks` are further fields of the answer, such as `dry_run`."""

    metrics: Mapping[str, float]
    symptoms: Sequence[str] = ()
    marks: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Description:
    """What `describe` answers, except for the protocol's own fields."""

    name: str
    text: str
    parameters: Sequence[Parameter]
    metrics: Sequence[Metric]
    symptoms: Sequence[str]
    sequential: bool
    seconds_per_test: float
    marks: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "protocol": "dut/1",
            "name": self.name,
            "description": self.text,
            "parameters": [parameter.described() for parameter in self.parameters],
            "metrics": [{"name": metric.name, "unit": metric.unit, "better": metric.better} for metric in self.metrics],
            "symptoms": list(self.symptoms),
            "topology": None,
            "sequential": self.sequential,
            "default": {parameter.name: parameter.default for parameter in self.parameters},
            "seconds_per_test": self.seconds_per_test,
            **(self.marks or {}),
        }


class Device(Protocol):
    """A device under test."""

    @property
    def description(self) -> Description:
        """What the device is; the same for its whole life."""

    def test(self, config: Mapping[str, Any]) -> Measured:
        """Measure one complete configuration that is inside all ranges.

        Raises
        ------
        DeviceFailed
            If nothing was measured.
        """

    def reset(self) -> None:
        """Bring the device into the state it had at the start. Raises DeviceFailed."""


def serve(opening: AbstractContextManager[Device], requests: TextIO, answers: TextIO) -> int:
    """Answer requests until stdin ends or the process receives a signal to stop; then close the device.

    Returns
    -------
    int
        Exit status: 0, or 1 if the device could not be opened or closed; the reason is on stderr.
    """
    try:
        with _ended_by_signals(), opening as device:
            for line in requests:
                if line.strip():
                    answers.write(json.dumps(_answered(device, line)) + "\n")
                    answers.flush()
    except (DeviceFailed, OSError, subprocess.SubprocessError) as error:
        print(f"the device failed: {error}", file=sys.stderr)
        return 1
    return 0


def _answered(device: Device, line: str) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except ValueError as error:
        return {"id": None, "status": "error", "reason": f"the request is not JSON: {error}"}
    if not isinstance(request, dict):
        return {"id": None, "status": "error", "reason": "the request must be a JSON object"}
    operation, identity = request.get("op"), request.get("id")
    if operation == "describe":
        return device.description.as_json()
    if operation not in ("test", "reset"):
        return {"id": identity, "status": "error", "reason": f"unknown operation {operation!r}; use describe, test or reset"}
    try:
        if operation == "reset":
            device.reset()
            answer: dict[str, Any] = {"id": identity, "status": "ok"}
        else:
            answer = {"id": identity, **_tested(device, request.get("config"))}
    except (DeviceFailed, OSError, subprocess.SubprocessError) as error:
        answer = {"id": identity, "status": "error", "reason": str(error)}
    _note(operation, request.get("config"), answer)
    return answer


def _tested(device: Device, config: object) -> dict[str, Any]:
    if not isinstance(config, dict):
        return {"status": "invalid", "reason": "config must be an object of parameter names and values"}
    full, problems = completed(device.description.parameters, config)
    if problems:
        return {"status": "invalid", "reason": "; ".join(problems)}
    measured = device.test(full)
    return {"status": "ok", "symptoms": list(measured.symptoms), "metrics": dict(measured.metrics), **(measured.marks or {})}


def _note(operation: str, config: object, answer: Mapping[str, Any]) -> None:
    """Append the operation to the ledger of whoever counts them."""
    ledger = os.environ.get("DUT_LEDGER")
    if ledger:
        with Path(ledger).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"op": operation, "config": config, "status": answer["status"]}) + "\n")


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM, SIGINT and SIGHUP end the block like the end of the requests; another one does not interrupt the cleaning up."""
    kinds = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    def end(_number: int, _frame: object) -> None:
        for kind in kinds:
            signal.signal(kind, signal.SIG_IGN)
        raise _Ended

    before = {kind: signal.signal(kind, end) for kind in kinds}
    try:
        yield
    except _Ended:
        pass
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


class _Ended(BaseException):
    """A signal asked the process to end. Not an Exception: nothing on the way may take it for a failed test."""
