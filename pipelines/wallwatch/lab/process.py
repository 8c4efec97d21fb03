"""Client of one device under test: an executable that speaks `dut/1` (docs/lab.md).

Every answer is matched to its question by an id that is never used again. An adaptor that breaks the order of lines, dies or hangs is
stopped, and started again for the next operation; the operation itself is answered `error`, which the campaign retries.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson

from wallwatch.domain.lab.device import Config, DescriptionError, Device, parse_device, to_json
from wallwatch.lab.adaptors import connect
from wallwatch.lab.answers import Answer, check_id, parse_line, read_reset, read_test
from wallwatch.lab.differences import differences
from wallwatch.lab.faults import RESTART_AFTER, BadDevice, DeviceFault, DeviceGone, shown
from wallwatch.lab.pipe import LinePipe

TIMEOUT_FACTOR = 5.0
"""Times the seconds per test that the device states; a test that takes so much longer hangs."""
LEAST_TIMEOUT_S = 5.0
DESCRIBE_TIMEOUT_S = 60.0
"""A start may load libraries, make namespaces or wait for hardware."""
RESTART_PAUSE_S = 0.05
HANG_GRACE_S = 0.0
"""A process that hangs does not read the end of stdin either: SIGTERM at once."""


class DeviceProcess:
    """One process of the adaptor. Not for several threads at a time.

    Parameters
    ----------
    command
        The command line, split as a shell would; no shell runs it. Or a URL: `tcp://HOST:PORT` or `unix:///PATH`.
    timeout_s
        Seconds for one test or reset; None for `TIMEOUT_FACTOR` times what the device states, at least `LEAST_TIMEOUT_S`.
    expected
        The description that the device must have, None for whatever it says first.
    warn
        Called with one line for each fault.

    Raises
    ------
    BadDevice
        From `describe`: the command cannot be started, does not answer, or describes no usable device.
    DeviceGone
        From `test` and `reset`: the description changed after a restart, so answers no longer belong to the same device.
    """

    def __init__(
        self,
        command: str,
        timeout_s: float | None = None,
        expected: dict[str, Any] | None = None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._arguments = _split(command)
        self._given_timeout_s = timeout_s
        self._described = expected
        self._device = None if expected is None else parse_device(expected)
        self._warn = warn
        self._pipe: LinePipe | None = None
        self._number = 0
        self._last_line = b""
        self._repeated_lines = 0
        self._has_repeated = False

    @property
    def device(self) -> Device:
        """What the device says of itself; starts it on first use."""
        self.describe()
        if self._device is None:
            raise AssertionError("describe() sets it or raises")
        return self._device

    def describe(self) -> dict[str, Any]:
        """The answer to `describe`, as received; starts the process when none runs."""
        if self._described is None or self._pipe is None:
            try:
                self._start()
            except DeviceFault as fault:
                self._fail(fault)
                raise BadDevice(f"the device {fault}") from None
            except DeviceGone as gone:
                raise BadDevice(str(gone)) from None
        if self._described is None:
            raise AssertionError("_start() sets it or raises")
        return self._described

    @property
    def timeout_s(self) -> float:
        """Seconds that a test or reset may take."""
        if self._given_timeout_s is not None:
            return self._given_timeout_s
        stated_s = self._device.seconds_per_test if self._device else None
        return max(TIMEOUT_FACTOR * (stated_s or 0.0), LEAST_TIMEOUT_S)

    @property
    def pid(self) -> int | None:
        """Process id of the adaptor; None while none runs."""
        return None if self._pipe is None else self._pipe.pid

    def test(self, config: Config) -> Answer:
        """Run one configuration. A fault of the adaptor is an answer with status `error` and its text as the reason."""
        device = self.device if self._device is None else self._device
        return self._operation({"op": "test", "config": to_json(config)}, lambda raw, line: read_test(raw, device, line))

    def reset(self) -> Answer:
        """Reset the device; faults as in `test`."""
        return self._operation({"op": "reset"}, read_reset)

    def close(self) -> None:
        """End the process; it has some seconds to undo what it did to the device."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()

    def terminate(self) -> None:
        """Ask the running process to end, from another thread; its operation is then answered `error`."""
        pipe = self._pipe
        if pipe is not None:
            pipe.terminate()

    def kill(self) -> None:
        """End the process now, without time to undo."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close(HANG_GRACE_S)

    def _operation(self, question: dict[str, Any], read: Callable[[dict[str, Any], bytes], Answer]) -> Answer:
        begin = time.monotonic()
        try:
            if self._pipe is None:
                time.sleep(RESTART_PAUSE_S)
                self._start()
            raw, line = self._ask(question)
            answer = read(raw, line)
        except DeviceFault as fault:
            self._fail(fault)
            answer = Answer("error", reason=str(fault), fault=fault.kind)
        repeated, self._repeated_lines = self._repeated_lines, 0
        return replace(answer, seconds=time.monotonic() - begin, repeated=repeated)

    def _ask(self, question: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        pipe = self._pipe
        if pipe is None:
            raise AssertionError("the process runs")
        self._number += 1
        number = self._number
        for late in pipe.waiting_lines():
            self._repeated(late, "before")
        line = pipe.ask(orjson.dumps({**question, "id": number}) + b"\n", self.timeout_s)
        while line == self._last_line:
            self._repeated(line, "after")
            line = self._after_repetition(pipe, number)
        raw = parse_line(line)
        check_id(raw, number, line)
        self._last_line = line
        for second in pipe.waiting_lines():
            self._repeated(second, "with")
        return raw, line

    def _after_repetition(self, pipe: LinePipe, number: int) -> bytes:
        """The next line; without one, the old answer was meant for the new question."""
        try:
            return pipe.ask(b"", self.timeout_s)
        except DeviceFault as fault:
            if fault.kind != "hung":
                raise
            raise DeviceFault("wrong id", f"answered question {number} with its last answer again: {shown(self._last_line)}") from None

    def _repeated(self, line: bytes, when: str) -> None:
        """The last answer once more does no harm; any other line that nobody asked for makes it unknown which of them is right."""
        if line != self._last_line:
            text = {"before": "between two questions", "after": "after a question", "with": "together with an answer"}[when]
            raise DeviceFault(
                "answered twice", f"wrote a line that nobody asked for {text}: {shown(line)}; last answer {shown(self._last_line)}"
            )
        self._repeated_lines += 1
        if not self._has_repeated:
            self._has_repeated = True
            self._warn(f"the device wrote the same answer twice: {shown(line)}; the second is ignored, further ones are only counted")

    def _start(self) -> None:
        """Start the adaptor and compare what it says of itself with what it said before."""
        if self._pipe is not None:
            return
        try:
            self._pipe = LinePipe(self._arguments)
        except OSError as error:
            raise DeviceFault("cannot be started", f"cannot be started: {self._arguments[0]}: {error.strerror or error}") from None
        timeout_s = max(DESCRIBE_TIMEOUT_S, self.timeout_s)
        try:
            line = self._pipe.ask(b'{"op":"describe"}\n', timeout_s)
            raw = parse_line(line)
        except DeviceFault as fault:
            raise DeviceFault(fault.kind, f"did not describe itself: it {fault}") from None
        self._last_line = line
        if self._described is None:
            try:
                self._device = parse_device(raw)
            except DescriptionError as error:
                raise DeviceFault("description invalid", f"has an invalid description: {'; '.join(error.problems)}") from None
            self._described = raw
        elif raw != self._described:
            changed = differences(self._described, raw)
            self.kill()
            raise DeviceGone(
                f"the device describes itself differently than before: {changed}; "
                "earlier answers do not belong to it, so start a new campaign for it in another folder"
            )

    def _fail(self, fault: DeviceFault) -> None:
        self._warn(f"the device {fault}")
        if fault.kind in RESTART_AFTER or fault.kind in ("description invalid", "cannot be started"):
            self.kill()


def _split(command: str) -> list[str]:
    try:
        arguments = [sys.executable, "-m", connect.__name__, command] if connect.is_url(command) else shlex.split(command)
    except ValueError as error:
        raise BadDevice(f"the command {shown(command)} cannot be split into arguments: {error}") from None
    if not arguments:
        raise BadDevice("the command of the device is empty: give an executable that speaks dut/1")
    return arguments
