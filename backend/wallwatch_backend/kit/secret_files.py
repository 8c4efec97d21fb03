"""Keys in the secrets directory: created on the first start, readable by their owner only."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def read_or_create(path: Path, make: Callable[[], bytes]) -> bytes:
    """Return the content of `path`; create it with `make()` and mode 0600 if it does not exist.

    Two processes that start together agree: the key is written to a temporary file and linked into place, and the second
    process reads the first's.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(make())
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    if path.stat().st_mode & 0o077:
        raise PermissionError(f"{path} can be read by others; run: chmod 600 {path}")
    return path.read_bytes()
