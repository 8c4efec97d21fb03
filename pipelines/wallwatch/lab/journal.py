"""The journal of a campaign: one JSON object per line, so that a killed campaign resumes without repeating a finished test.

First `{"kind": "campaign", ...}`, then `test` and `reset` in the order in which they ended (`n` is the order in which they were asked;
with several processes the two differ), at the end of each session `{"kind": "end", ...}`. `{"kind": "again", "from": n}`: the device had
failed, and the resumed campaign asks everything from `n` on again.

When is a line safe? `write` hands it to the kernel before the search sees the answer: it survives `kill -9` of Wallwatch. `fsync`, which
makes it survive a power cut, costs 0.2 ms on a good disk and 30 ms on a slow one. It follows each line as long as all calls together
take less than `FSYNC_SHARE` of the time, else it waits; so a power cut loses the tests of some milliseconds, which are then repeated.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from wallwatch.lab.faults import shown

FILE_NAME = "journal.jsonl"
VERSION = 1
FSYNC_SHARE = 0.05
"""Of the time since the last fsync that the last fsync may have taken."""
OPERATIONS = ("test", "reset")


class JournalError(Exception):
    """The journal cannot be created, read or continued. The text says what to do."""


class JournalFull(JournalError):
    """A line could not be written, for instance because the disk is full. All lines before it are intact."""


@dataclass
class Content:
    """What a journal holds. `header` is its first line; `lines` maps `n` to a test or reset."""

    header: dict[str, Any]
    lines: dict[int, dict[str, Any]] = field(default_factory=dict)
    end: dict[str, Any] | None = None
    dropped: list[dict[str, Any]] = field(default_factory=list)
    """Operations that a resumed campaign asked again: they count, and answer nothing."""
    torn: str | None = None
    """A last line without its end, which a kill or power cut left: ignored."""
    intact_bytes: int = 0

    def drop(self, first: int) -> None:
        """Forget the answers from number `first` on."""
        for n in sorted(n for n in self.lines if n >= first):
            self.dropped.append(self.lines.pop(n))

    @property
    def seconds(self) -> float:
        """Seconds that the campaign had taken at its last line."""
        return max((float(line.get("elapsed_s", 0.0)) for line in (*self.lines.values(), *self.dropped, self.end or {})), default=0.0)


def read_journal(path: Path) -> Content:
    """Read a journal.

    Raises
    ------
    JournalError
        no such file, a first line of something else, a damaged line before intact ones
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise JournalError(f"{path.parent} holds no {path.name}: give the folder of a campaign") from None
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error.strerror or error}") from None
    lines, intact, torn = _intact_lines(data, path)
    if not lines:
        raise JournalError(f"{path} ends before its first line does: delete the folder and run the campaign again")
    header = lines[0]
    if header.get("kind") != "campaign":
        raise JournalError(f"{path} is no journal of a campaign: its first line is {shown(data[:200])}")
    if header.get("version") != VERSION:
        raise JournalError(f"{path} has version {header.get('version')!r}, and this Wallwatch reads version {VERSION}")
    content = Content(header, torn=torn, intact_bytes=intact)
    for number, line in enumerate(lines[1:], 2):
        if line.get("kind") in OPERATIONS and isinstance(line.get("n"), int):
            content.lines[line["n"]] = line
            content.end = None
        elif line.get("kind") == "end":
            content.end = line
        elif line.get("kind") == "again" and isinstance(line.get("from"), int):
            content.drop(line["from"])
        else:
            raise JournalError(f"{path}: line {number} is neither test, reset, again nor end: {shown(orjson.dumps(line))}")
    return content


def _intact_lines(data: bytes, path: Path) -> tuple[list[dict[str, Any]], int, str | None]:
    """Lines, the number of bytes that they take, and what was left over at the end."""
    found: list[dict[str, Any]] = []
    at = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        end = at + len(line) + 1
        parsed = _object(line) if end <= len(data) else None
        if parsed is None:
            rest = data[end:]
            if any(_object(later) is not None for later in rest.split(b"\n")):
                raise JournalError(f"{path}: line {number} is damaged, and intact lines follow it: {shown(line)}; restore the file")
            return found, at, shown(data[at:]) if data[at:] else None
        found.append(parsed)
        at = end
    return found, at, None


def _publish(begun: Path, path: Path) -> None:
    """Give a file its name; raises `FileExistsError` when the name is taken."""
    try:
        path.hardlink_to(begun)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError(path) from None
        begun.rename(path)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        parsed = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return parsed if isinstance(parsed, dict) else None


class Journal:
    """Appends to a journal. Only one process at a time can hold it."""

    def __init__(self, path: Path, descriptor: int, size: int) -> None:
        self._path = path
        self._descriptor = descriptor
        self._size = size
        self._synced_at = 0.0
        self._sync_s = 0.0

    @classmethod
    def create(cls, folder: Path, header: dict[str, Any]) -> Journal:
        """A new journal with its first line.

        Raises
        ------
        JournalError
            the folder already has one, or cannot be written
        """
        path = folder / FILE_NAME
        begun = folder / f".{FILE_NAME}.{os.getpid()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise JournalError(f"{folder} cannot be written: {error.strerror or error}") from None
        journal = cls(path, descriptor, 0)
        try:
            journal._lock()
            journal.append(header)
            journal.sync()
            # Under its name only with a first line: a kill at any moment leaves a journal that resumes, or none.
            _publish(begun, path)
            journal._sync_folder()
        except FileExistsError:
            journal.close()
            raise JournalError(
                f"{folder} already holds a campaign: continue it with `wallwatch lab resume {folder}`, or choose another folder with --out"
            ) from None
        except JournalError:
            journal.close()
            raise
        except OSError as error:
            journal.close()
            raise JournalError(f"{folder} cannot be written: {error.strerror or error}") from None
        finally:
            begun.unlink(missing_ok=True)
        return journal

    @classmethod
    def continued(cls, folder: Path) -> tuple[Journal, Content]:
        """An existing journal, with a torn last line cut off.

        Raises
        ------
        JournalError
            it cannot be read or written, or another process is running the campaign
        """
        path = folder / FILE_NAME
        content = read_journal(path)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        except OSError as error:
            raise JournalError(f"{path} cannot be written: {error.strerror or error}") from None
        journal = cls(path, descriptor, content.intact_bytes)
        journal._lock()
        again = read_journal(path)
        if again.intact_bytes != content.intact_bytes:  # the process that held the lock wrote a line meanwhile
            content, journal._size = again, again.intact_bytes
        if content.torn is not None:
            os.ftruncate(descriptor, content.intact_bytes)
        return journal, content

    def append(self, line: dict[str, Any]) -> None:
        """Write one line, and make it safe as the module says.

        Raises
        ------
        JournalFull
            the line could not be written; what was written of it is removed
        """
        data = orjson.dumps(line) + b"\n"
        try:
            written = os.write(self._descriptor, data)
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
            self._sync_if_cheap()
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            why = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or str(error)
            raise JournalFull(
                f"{self._path} could not be written: {why}; all {self._size} bytes before are intact: "
                f"make room and continue with `wallwatch lab resume {self._path.parent}`"
            ) from None
        self._size += len(data)

    def sync(self) -> None:
        """Wait until all lines are on the disk."""
        begin = time.monotonic()
        os.fsync(self._descriptor)
        self._synced_at = time.monotonic()
        self._sync_s = self._synced_at - begin

    def close(self) -> None:
        """Make all lines safe and release the journal."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                self.sync()
            os.close(self._descriptor)
            self._descriptor = -1

    def _sync_if_cheap(self) -> None:
        if self._sync_s < FSYNC_SHARE * (time.monotonic() - self._synced_at):
            self.sync()

    def _sync_folder(self) -> None:
        descriptor = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            self._descriptor = -1
            raise JournalError(f"another process is running the campaign in {self._path.parent}: wait until it ends, or stop it") from None
