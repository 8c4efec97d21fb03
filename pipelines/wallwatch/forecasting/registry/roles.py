"""Roles of models: champion, challenger, former champions, and the model history; one file, changed by one process at a time."""

from __future__ import annotations

import fcntl
import getpass
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

FILE = "roles.json"
_LOCK = ".lock"
MOST_FORMER = 3
"""Champions to which operators can roll back; older ones were trained on an outdated fleet."""
MOST_CHANGES = 200
"""Changes in the file; the table `forecast_model_change` has all of them."""


class RegistryError(Exception):
    """The message says what is wrong and what to do."""


@dataclass(frozen=True)
class Change:
    """One entry of the model history."""

    at: str
    """RFC 3339."""
    action: str
    """trained, promoted, rolled_back or removed."""
    model: str
    champion_before: str | None
    by: str
    reason: str


@dataclass
class Roles:
    """The roles of all models."""

    champion: str | None = None
    challenger: str | None = None
    former: list[str] = field(default_factory=list)
    """Newest last."""
    changes: list[Change] = field(default_factory=list)
    """Newest last."""

    def of(self, model: str) -> str:
        if model == self.champion:
            return "champion"
        if model == self.challenger:
            return "challenger"
        return "former" if model in self.former else "none"

    def note(self, action: str, model: str, before: str | None, by: str, reason: str) -> None:
        """Add an entry to the model history."""
        at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        self.changes = [*self.changes, Change(at, action, model, before, by, reason)][-MOST_CHANGES:]

    def was_rolled_back(self, model: str) -> bool:
        """Whether a rollback has replaced this model as champion."""
        return any(change.action == "rolled_back" and change.champion_before == model for change in self.changes)


def read(folder: Path) -> Roles:
    """The roles of a registry; empty when it has no file yet.

    Raises
    ------
    RegistryError
        When the file cannot be read.
    """
    file = folder / FILE
    try:
        content = orjson.loads(file.read_bytes())
        known = {one.name for one in fields(Roles)}
        roles = Roles(**{name: value for name, value in content.items() if name in known})
        roles.changes = [Change(**change) for change in content.get("changes", [])]
        ids = [roles.champion, roles.challenger, *roles.former]
        if not all(one is None or isinstance(one, str) for one in ids):
            raise TypeError("a role is not the id of a model")
    except FileNotFoundError:
        return Roles()
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise RegistryError(
            f"{file} cannot be read ({error}): restore it, or delete it and choose the champion with `wallwatch forecast promote ID`"
        ) from error
    return roles


@contextmanager
def changing(folder: Path) -> Iterator[Roles]:
    """Roles that are written back at the end; a file lock keeps two processes from overwriting each other's changes."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / _LOCK).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise RegistryError(f"{folder} cannot be changed: {error}") from error
    with lock:
        roles = read(folder)
        yield roles
        roles.former = roles.former[-MOST_FORMER:]
        write(folder / FILE, asdict(roles))


def write(file: Path, content: Any) -> None:
    """Write atomically: to a temporary file first, then rename.

    Raises
    ------
    RegistryError
        When it cannot be written, for example because the disk is full or permissions are missing.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".new", delete=False) as new:
            new.write(orjson.dumps(content))
            new.flush()
            os.fsync(new.fileno())
        Path(new.name).chmod(0o644)
        Path(new.name).replace(file)
    except OSError as error:
        raise RegistryError(f"{file} cannot be written: {error}") from error


def account() -> str:
    """The operating system's account that runs this process."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user id may have no name
        return f"uid {os.getuid()}"
