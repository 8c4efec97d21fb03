"""Drives `stepped-collector`: the real inputs, which read when they are asked to, on the clock of the case."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from signal import SIGTERM

from wallwatch_local.paths import binary
from wallwatch_local.processes import die_with_parent

PROGRAM_VARIABLE = "WALLWATCH_STEPPED_COLLECTOR"
"""Path of another build of the program."""


class CollectorEnded(Exception):
    """The collector ended although nobody asked it to."""


def program() -> Path:
    """The program that is driven."""
    return Path(os.environ.get(PROGRAM_VARIABLE) or binary("stepped-collector"))


class Collector:
    """One process; a collector that is killed and started again within it has no memory but its files."""

    def __init__(self, root: Path, host: str) -> None:
        self._clock = root / "clock"
        self._log = (root / "collector.log").open("wb")
        self.errors: Counter[str] = Counter()
        self.runs = False
        self.set_clock(0)
        command = die_with_parent([str(program()), "--host", host, "--root", str(root)], SIGTERM)
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)

    def set_clock(self, at_ns: int) -> None:
        """Set the host's time."""
        with self._clock.open("r+b" if self._clock.exists() else "wb") as file:
            file.write(struct.pack("<q", at_ns))

    def life(self, event: str) -> list[bytes]:
        """Let the collector `start`, `stop` in order, or die (`kill`)."""
        self.runs = event == "start"
        return self._request({"life": event})

    def gather(self, inputs: Sequence[str]) -> list[bytes]:
        """Let inputs read once; returns their messages."""
        return self._request({"gather": list(inputs)})

    def _request(self, request: dict[str, object]) -> list[bytes]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        messages: list[bytes] = []
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise CollectorEnded(self._last_words()) from None
        for line in self._process.stdout:
            if line.startswith(b'{"done":'):
                self.errors.update(json.loads(line)["done"]["errors"])
                return messages
            messages.append(line.rstrip(b"\n"))
        raise CollectorEnded(self._last_words())

    def _last_words(self) -> str:
        self._process.wait(30)
        return Path(self._log.name).read_text(errors="replace")[-4000:]

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()
        self._log.close()
