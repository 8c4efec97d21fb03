"""The kernel's log in a file in place of /dev/kmsg, and what a kernel that died left in pstore.

Records have the form of Documentation/ABI/testing/dev-kmsg: priority, number, microseconds since boot, flags; then the text.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


class KernelLog:
    """One boot's log; times in s since the case began."""

    def __init__(self, root: Path, epoch_ns: int, booted_at: float = -3600.0) -> None:
        self.root, self._epoch_ns, self.booted_at = root, epoch_ns, booted_at
        self._number = 1
        self._caller = "T9"
        self.last: list[tuple[float, int, str]] = []
        """Records of this boot: time, priority, text."""
        self.path.write_text("")
        (root / "pstore").mkdir(exist_ok=True)
        self._boot(1)
        self.say(booted_at + 0.5, "Linux version 6.8.0-40-generic (buildd@lcy02) #40-Ubuntu SMP", priority=5)

    @property
    def path(self) -> Path:
        """The stand-in of /dev/kmsg."""
        return self.root / "kmsg"

    def _boot(self, number: int) -> None:
        (self.root / "boot_id").write_text(f"0c8f6f26-91ab-4f4e-9f3a-{number:012x}\n")
        self._boots = number

    def say(self, at: float, *texts: str, priority: int = 4, caller: str = "", properties: Sequence[str] = ()) -> None:
        """Write records; each has the same priority and, a few microseconds later than the one before, the same time."""
        with self.path.open("a") as file:
            for offset, text in enumerate(texts):
                micros = int((at - self.booted_at) * 1e6) + offset * 7
                flags = "-" + (f",caller={caller}" if caller else "")
                file.write(f"{priority},{self._number},{micros},{flags};{text}\n" + "".join(f" {one}\n" for one in properties))
                self._number += 1
                self.last.append((at, priority, text))
        self._date(at)

    def skip_numbers(self, count: int) -> None:
        """Overwrite records before anybody could read them."""
        self._number += count

    def _date(self, at: float) -> None:
        ns = self._epoch_ns + int(at * 1e9)
        os.utime(self.path, ns=(ns, ns))

    def crash(self, at: float, texts: Sequence[str], reason: str = "Panic") -> None:
        """Dump the end of the log into pstore: nobody reads these records from the log any more (fs/pstore/platform.c, pstore_dump)."""
        records = [*self.last[-20:], *((at + i * 7e-6, 4, text) for i, text in enumerate(texts))]
        lines = "".join(f"<{priority}>[{when - self.booted_at:12.6f}] {text}\n" for when, priority, text in records)
        path = self.root / "pstore" / f"dmesg-erst-{7000000000000000000 + self._boots}"
        path.write_text(f"{reason}#1 Part1\n{lines}")
        ns = self._epoch_ns + int(at * 1e9)
        os.utime(path, ns=(ns, ns))

    def boot(self, at: float) -> None:
        """Begin the log of another boot."""
        self.booted_at, self._number, self.last = at, 1, []
        self.path.unlink()
        self.path.write_text("")
        self._boot(self._boots + 1)
        self.say(at + 0.5, "Linux version 6.8.0-40-generic (buildd@lcy02) #40-Ubuntu SMP", priority=5)
