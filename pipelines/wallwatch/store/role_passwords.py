"""Passwords of the database's roles: from files, or from the environment."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from wallwatch.store.roles import DatabaseRole

PREFIX = "WALLWATCH_DATABASE_PASSWORD_"
SHORTEST = 12


class PasswordProblem(ValueError):
    """A password that cannot be used, with what to do."""


def find(folder: Path | None, environment: Mapping[str, str] | None = None) -> dict[DatabaseRole, str]:
    """The password of each role that has one; missing files of a given folder are created, mode 0600, with random passwords.

    Raises
    ------
    PasswordProblem
        When a password is too short or of more than one line, or a file cannot be read or written.
    """
    known = os.environ if environment is None else environment
    found = {}
    for role in DatabaseRole:
        variable = f"{PREFIX}{role.name.upper()}"
        if password := known.get(variable):
            found[role] = _checked(password, variable)
        elif folder is not None:
            found[role] = _checked(*_of_file(folder / role))
    return found


def _of_file(file: Path) -> tuple[str, str]:
    try:
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
                handle.write(secrets.token_urlsafe(24))
        return file.read_text().strip(), str(file)
    except (OSError, UnicodeDecodeError) as error:
        raise PasswordProblem(f"the password in {file} cannot be read: {error}") from error


def _checked(password: str, source: str) -> str:
    if len(password) < SHORTEST:
        raise PasswordProblem(f"the password of {source} is too short: use at least {SHORTEST} characters")
    if not password.isprintable():
        raise PasswordProblem(f"the password of {source} has control characters or several lines")
    return password
