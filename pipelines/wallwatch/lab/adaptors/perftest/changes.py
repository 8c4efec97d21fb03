"""Changes to a host at a bounded rate. How to undo each is on disk before it is made."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from wallwatch.lab.adaptors.perftest.operations import Command, Executor, Operation, Write
from wallwatch.lab.adaptors.serve import DeviceFailed

_CHANGE_TIMEOUT_S = 30


@dataclass(frozen=True)
class Change:
    """Something to do, and what undoes it. If doing it failed, undoing it must be harmless, and may fail as well."""

    what: str
    """Name of the change; there is at most one of a name at a time."""
    do: Operation
    undo: Operation


@dataclass
class Changes:
    """The changes that are in force."""

    executor: Executor
    path: Path
    """Of the undo file. A dry run does not touch it."""
    per_second: float
    clock: Callable[[], float] = time.monotonic
    made: dict[str, Operation] = field(default_factory=dict)
    """Name to what undoes it, in the order in which they were made."""
    uncertain: set[str] = field(default_factory=set)
    """Names of those that failed, or were being made when the lab was killed: undoing them may fail."""
    _file: TextIO | None = None
    _next: float = 0.0

    def open(self) -> list[str]:
        """Lock the undo file, and undo what a killed lab left.

        Returns
        -------
        list of str
            What could not be undone.

        Raises
        ------
        DeviceFailed
            If another lab is at work, or the file cannot be read: then a person has to look.
        """
        if self.executor.dry:
            return []
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as until_known:
            file = until_known.enter_context(self.path.open("a+", encoding="utf-8"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise DeviceFailed(f"another lab is at work on this RNIC: {self.path} is locked") from error
            file.seek(0)
            self.made, self.uncertain = _read(file, self.path)
            # Only a file that was understood is written to.
            self._file = file
            until_known.pop_all()
        return self.undo_all()

    def close(self) -> list[str]:
        """Undo everything and unlock. Returns what could not be undone; it stays in the file for the next start."""
        failed = self.undo_all()
        if self._file is not None:
            self._file.close()
            self._file = None
        return failed

    def make(self, change: Change, check: Callable[[], None]) -> None:
        """Make a change unless it is in force. Raises DeviceFailed, and Refused from `check`."""
        if change.what in self.made:
            return
        self._pace()
        check()
        self.made[change.what] = change.undo
        self.uncertain.add(change.what)
        self._append({"made": change.what, **_packed(change.undo)})
        self.executor.do(change.do, _CHANGE_TIMEOUT_S, check)
        self.uncertain.discard(change.what)
        self._append({"done": change.what})

    def undo(self, names: Sequence[str]) -> None:
        """Undo changes, last first, at the same rate. Raises DeviceFailed at the first that fails; it stays in force."""
        for name in reversed([name for name in self.made if name in set(names)]):
            self._undo(name)

    def undo_all(self) -> list[str]:
        """Undo everything, last first; a failure does not keep the others. Returns the failures."""
        failed = []
        for name in reversed(list(self.made)):
            try:
                self._undo(name)
            except DeviceFailed as error:
                failed.append(f"{name}: {error}")
        if self._file is not None:
            self._file.truncate(0)
            for name, operation in self.made.items():
                self._append({"made": name, **_packed(operation)})
                self._append({"done": name})
        return failed

    def _undo(self, name: str) -> None:
        self._pace()
        # Nothing may keep an undo from being done: no check here.
        try:
            self.executor.do(self.made[name], _CHANGE_TIMEOUT_S, lambda: None)
        except DeviceFailed:
            if name not in self.uncertain:
                raise
        del self.made[name]
        self.uncertain.discard(name)
        self._append({"undone": name})

    def _pace(self) -> None:
        """Wait until the next change may be made."""
        now = self.clock()
        if now < self._next:
            self.executor.sleep(self._next - now)
        self._next = max(now, self._next) + 1 / self.per_second

    def _append(self, entry: dict[str, Any]) -> None:
        if self._file is None:
            return
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _packed(operation: Operation) -> dict[str, Any]:
    if isinstance(operation, Command):
        return {"command": list(operation.words)}
    return {"write": operation.path, "text": operation.text}


def _read(file: TextIO, path: Path) -> tuple[dict[str, Operation], set[str]]:
    made: dict[str, Operation] = {}
    uncertain: set[str] = set()
    # A line without its end was being written when the lab was killed: its change was not made yet.
    for line in file.read().split("\n")[:-1]:
        try:
            entry = json.loads(line)
            if "undone" in entry:
                made.pop(entry["undone"], None)
            elif "done" in entry:
                uncertain.discard(entry["done"])
            else:
                made[entry["made"]] = _unpacked(entry)
                uncertain.add(entry["made"])
        except (ValueError, KeyError, TypeError) as error:
            raise DeviceFailed(f"{path} is damaged ({line[:80]!r}); undo by hand what it lists, then remove it") from error
    return made, uncertain


def _unpacked(entry: dict[str, Any]) -> Operation:
    if "command" in entry:
        return Command(tuple(str(word) for word in entry["command"]))
    return Write(str(entry["write"]), str(entry["text"]))
