"""The fleet telemetry secret in its file: created, rotated, and followed by processes that check telemetry keys (docs/decisions/0015)."""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from contextlib import suppress
from pathlib import Path

from wallwatch.domain.telemetry.decode import Sender
from wallwatch.domain.telemetry.keys import SHORTEST_SECRET, BadSecret, Keys, format_secrets, parse_secrets

log = logging.getLogger(__name__)

LOOK_EVERY_S = 5.0
"""How often a running process looks whether the file has changed: a rotation counts after this time."""


def read(file: Path) -> tuple[bytes, ...]:
    """Read the secrets, the current one first.

    Raises
    ------
    BadSecret
        When the content is not usable.
    OSError
        When the file cannot be read; PermissionError also when others may read it.
    """
    if file.stat().st_mode & 0o007:
        raise PermissionError(f"{file} can be read by every user; run: chmod 600 {file}")
    try:
        return parse_secrets(file.read_text(encoding="ascii"))
    except (BadSecret, UnicodeDecodeError) as error:
        raise BadSecret(f"{file} is not a telemetry secret: {error}") from None


def read_or_create(file: Path) -> tuple[bytes, ...]:
    """Read the secrets; create the file with mode 0600 if it does not exist. Processes that start together agree on one secret."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = _written(file, [secrets.token_bytes(SHORTEST_SECRET)])
        try:
            with suppress(FileExistsError):
                os.link(temporary, file)
        finally:
            temporary.unlink(missing_ok=True)
    return read(file)


def rotate(file: Path) -> None:
    """Begin a new secret; the present one stays accepted, and the one before it ends."""
    _written(file, [secrets.token_bytes(SHORTEST_SECRET), read(file)[0]]).replace(file)


def retire_former(file: Path) -> bool:
    """End the overlap of a rotation: only the current secret counts. Returns whether there was a former one."""
    current, *former = read(file)
    if former:
        _written(file, [current]).replace(file)
    return bool(former)


def _written(file: Path, content: list[bytes]) -> Path:
    """Write the secrets to a new file next to the given one, with its owner and mode if it exists (others: 0600)."""
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
        if file.exists():
            former = file.stat()
            os.fchmod(handle.fileno(), former.st_mode & 0o770)
            with suppress(PermissionError):
                os.fchown(handle.fileno(), former.st_uid, former.st_gid)
        handle.write(format_secrets(content))
        handle.flush()
        os.fsync(handle.fileno())
    return temporary


class TelemetryKeys:
    """The keys that count at this moment. Without a file nothing is checked, and every host is believed."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._keys: Keys | None = None
        self._seen: tuple[int, int, int] | None = None
        self._next_s = 0.0
        self._problem = ""
        if file is None:
            log.warning(
                "telemetry keys are not checked, so any producer can write in the name of any host: set WALLWATCH_TELEMETRY_SECRET_FILE"
            )

    def wait(self, stop: threading.Event) -> bool:
        """Wait until there is a secret; False when the process stops before. Returns at once when nothing is checked."""
        while self._file is not None and not stop.is_set():
            self._look()
            if self._keys is not None:
                return True
            stop.wait(1.0)
        return not stop.is_set()

    def sender(self, record_key: bytes | None) -> Sender | None:
        """What `decode` checks a message with; None when nothing is checked.

        Raises
        ------
        RuntimeError
            Before `wait` has returned: no message may be judged without the secret.
        """
        if self._file is None:
            return None
        if time.monotonic() >= self._next_s:
            self._look()
        if self._keys is None:
            raise RuntimeError("telemetry keys are used before the secret was read")
        return Sender(record_key, self._keys.proves)

    def of(self, host: str) -> str | None:
        """The current key of a host, for a message that a job writes in its name; None when nothing is checked."""
        if self._file is None:
            return None
        if time.monotonic() >= self._next_s:
            self._look()
        if self._keys is None:
            raise RuntimeError("telemetry keys are used before the secret was read")
        return self._keys.of(host)

    def _look(self) -> None:
        """Read the file if it has changed. While it cannot be read, what was read last stays."""
        self._next_s = time.monotonic() + LOOK_EVERY_S
        if self._file is None:
            return
        try:
            found = self._file.stat()
            version = (found.st_ino, found.st_mtime_ns, found.st_size)
            if version == self._seen:
                return
            self._keys, self._seen = Keys(read(self._file)), version
        except (OSError, BadSecret) as error:
            if str(error) != self._problem:
                self._problem = str(error)
                log.error(
                    "the telemetry secret cannot be read (the backend creates it at its first start; %s): %s",
                    "waiting" if self._keys is None else "the previous one stays",
                    error,
                )
            return
        self._problem = ""
        log.info("telemetry keys are checked with the secret in %s", self._file)
