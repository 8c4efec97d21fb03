"""Profiles: which server, and with which token. They are in a file that only its owner may read.

A token is sent only to the address that it was stored with. So an address from the environment never goes with a token from the file.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from wallwatch.api_client.errors import WrongUsage

DEFAULT_URL = "http://127.0.0.1:8000"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
KEYS = frozenset({"url", "token", "ca_file"})
OTHERS_MAY = 0o077


@dataclass(frozen=True)
class Profile:
    """A server and how to sign in to it."""

    url: str = DEFAULT_URL
    token: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    name: str | None = None
    """None when it comes from the environment."""


@dataclass(frozen=True)
class Profiles:
    """The file's content."""

    current: str | None = None
    profiles: Mapping[str, Profile] = field(default_factory=dict)

    def named(self, name: str) -> Profile:
        """Return a profile; `WrongUsage` names those that exist."""
        if name not in self.profiles:
            known = ", ".join(sorted(self.profiles)) or "none"
            raise WrongUsage(f"There is no profile {name!a}; there are: {known}. Create one with `wallwatch profile set`.")
        return self.profiles[name]

    def having(self, name: str, profile: Profile) -> Profiles:
        """With one more profile, or another one of that name. The first one becomes the current one."""
        return Profiles(self.current or name, {**self.profiles, name: replace(profile, name=name)})

    def without(self, name: str) -> Profiles:
        """Without one profile."""
        self.named(name)
        others = {key: value for key, value in self.profiles.items() if key != name}
        return Profiles(None if self.current == name else self.current, others)


def checked_url(url: str) -> str:
    """Return an address without a final slash, or raise `WrongUsage`.

    >>> checked_url("https://wallwatch.example/")
    'https://wallwatch.example'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise WrongUsage(f"{url!a} is not an address such as https://wallwatch.example")
    return url.rstrip("/")


def checked_name(name: str) -> str:
    """Return a profile's name, or raise `WrongUsage`."""
    if not NAME.fullmatch(name):
        raise WrongUsage(f"{name!a} cannot be a profile's name: letters, digits, dot, dash and underscore, at most 63")
    return name


def file_of(environment: Mapping[str, str]) -> Path:
    """Where the profiles are: `$WALLWATCH_CONFIG`, else the user's folder of configurations."""
    if given := environment.get("WALLWATCH_CONFIG"):
        return Path(given)
    folder = environment.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "wallwatch" / "config.toml"


def read(file: Path) -> Profiles:
    """Read the file; none is no profiles. A file that others can read is refused, because it holds tokens."""
    try:
        mode = file.stat().st_mode
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Profiles()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUsage(f"{file} cannot be read: {error}") from error
    if mode & OTHERS_MAY:
        raise WrongUsage(f"{file} holds tokens, and others than its owner can read or change it. Run: chmod 600 {file}")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise WrongUsage(f"{file} is not TOML: {error}") from error
    tables = document.get("profiles", {})
    if set(document) - {"current", "profiles"} or not isinstance(tables, dict):
        raise WrongUsage(f"{file} may have `current` and [profiles.NAME] only")
    current = document.get("current")
    profiles = {checked_name(name): _profile(file, name, table) for name, table in tables.items()}
    if current is not None and current not in profiles:
        raise WrongUsage(f"{file}: the current profile {current!a} does not exist")
    return Profiles(current, profiles)


def _profile(file: Path, name: str, table: Any) -> Profile:
    if not isinstance(table, dict) or set(table) - KEYS or not all(isinstance(value, str) for value in table.values()):
        raise WrongUsage(f"{file}: [profiles.{name}] may have the texts {', '.join(sorted(KEYS))} only")
    if "url" not in table:
        raise WrongUsage(f"{file}: [profiles.{name}] has no url")
    return Profile(checked_url(table["url"]), table.get("token"), table.get("ca_file"), name)


def write(file: Path, profiles: Profiles) -> None:
    """Replace the file at once; only its owner may read it."""
    lines = [] if profiles.current is None else [f"current = {_text(profiles.current)}"]
    for name, profile in sorted(profiles.profiles.items()):
        values = {"url": profile.url, "token": profile.token, "ca_file": profile.ca_file}
        lines += ["", f"[profiles.{_text(name)}]", *(f"{key} = {_text(value)}" for key, value in values.items() if value is not None)]
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".config-")  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write("\n".join(lines) + "\n")
            Path(temporary).replace(file)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise WrongUsage(f"{file} cannot be written: {error}") from error


def _text(value: str) -> str:
    """A TOML string: JSON's form is one too, but for the character DEL.

    >>> _text('a "b"')
    '"a \\\\"b\\\\""'
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def chosen(environment: Mapping[str, str], name: str | None = None) -> Profile:
    """Choose the profile of a command: the named one, else the environment's address, else the file's current one.

    `WALLWATCH_TOKEN` (or `WALLWATCH_TOKEN_FILE`) replaces the token of any of them.
    """
    token = _environment_token(environment)
    wanted = name or environment.get("WALLWATCH_PROFILE")
    url = environment.get("WALLWATCH_API_URL")
    if wanted:
        profile = read(file_of(environment)).named(wanted)
    elif url:
        profile = Profile(checked_url(url), None, environment.get("WALLWATCH_API_CA_FILE"))
    else:
        stored = read(file_of(environment))
        profile = stored.named(stored.current) if stored.current else Profile()
    return profile if token is None else replace(profile, token=token)


def _environment_token(environment: Mapping[str, str]) -> str | None:
    if token := environment.get("WALLWATCH_TOKEN"):
        return token.strip()
    if file := environment.get("WALLWATCH_TOKEN_FILE"):
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise WrongUsage(f"WALLWATCH_TOKEN_FILE cannot be read: {error}") from error
    return None
