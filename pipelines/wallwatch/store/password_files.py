"""Passwords in private files, one in each: those of the database's roles and of the users at Kafka."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

SHORTEST = 12


class PasswordProblem(ValueError):
    """A password that cannot be used, with what to do."""


def read_or_create(file: Path) -> str:
    """The password in a file; a missing file is created, mode 0600, with a random one.

    Raises
    ------
    PasswordProblem
        When the file cannot be read or written, or its password cannot be used.
    """
    try:
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
                handle.write(secrets.token_urlsafe(24))
        return checked(file.read_text().strip(), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise PasswordProblem(f"the password in {file} cannot be read: {error}") from error


def checked(password: str, source: str) -> str:
    """The password itself, if it can be used."""
    if len(password) < SHORTEST:
        raise PasswordProblem(f"the password of {source} is too short: use at least {SHORTEST} characters")
    if not password.isprintable():
        raise PasswordProblem(f"the password of {source} has control characters or several lines")
    return password
