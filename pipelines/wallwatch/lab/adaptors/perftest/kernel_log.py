"""Symptoms in the kernel's messages while a test ran: /dev/kmsg, or a file of its lines."""

from __future__ import annotations

import os
import re
from pathlib import Path

_SYMPTOMS = {
    "S2": re.compile(r"BUG: soft lockup - CPU#|INFO: task .* blocked (?:in I/O wait )?for more than \d+ seconds|rcu.*detected.*stall"),
    "S3": re.compile(r"BUG: unable to handle|kernel NULL pointer dereference|general protection fault\b|kernel BUG at "),
    "S7": re.compile(r"pciehp: Slot\([^)]*\): (?:Link Down|Card not present)|DPC: containment event"),
    "S8": re.compile(r"mlx5_core .*(?:\) timeout\. Will cause a leak|No done completion|device's health compromised|TX timeout detected)"),
}
"""The most frequent lines of each symptom; the collector's input `kernel_events` knows more."""
MOST_BYTES = 1 << 22
_RECORD_BYTES = 1 << 16


class KernelLog:
    """The log from now on."""

    def __init__(self, path: Path) -> None:
        # /dev/kmsg returns one record per read, and would wait for the next one.
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self._descriptor, 0, os.SEEK_END)

    def symptoms(self) -> list[str]:
        """Those of the messages since the last call, in order of their numbers."""
        text = self._new()
        return [symptom for symptom, lines in _SYMPTOMS.items() if lines.search(text)]

    def close(self) -> None:
        os.close(self._descriptor)

    def _new(self) -> str:
        records: list[bytes] = []
        while sum(map(len, records)) < MOST_BYTES:
            try:
                record = os.read(self._descriptor, _RECORD_BYTES)
            except BlockingIOError:
                break
            except BrokenPipeError:
                continue  # records were overwritten before they were read; the next read goes on behind them
            if not record:
                break
            records.append(record)
        return b"".join(records).decode("utf-8", errors="replace")
