"""Passwords of the database's roles: from files, or from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from wallwatch.store.password_files import checked, read_or_create
from wallwatch.store.roles import DatabaseRole

PREFIX = "WALLWATCH_DATABASE_PASSWORD_"


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
            found[role] = checked(password, variable)
        elif folder is not None:
            found[role] = read_or_create(folder / role)
    return found
