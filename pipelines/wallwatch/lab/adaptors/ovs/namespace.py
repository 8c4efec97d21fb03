"""A network namespace that belongs to this process: the kernel removes it, with all devices, when the process and its children end."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from wallwatch.lab.adaptors.serve import DeviceFailed

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_COMMAND_TIMEOUT_S = 30
_libc = ctypes.CDLL(None, use_errno=True)


def enter() -> None:
    """Move this process into a new network namespace; without root into a user namespace too, where the system allows it.

    Raises
    ------
    DeviceFailed
        If neither is permitted.
    """
    user, group = os.getuid(), os.getgid()
    if _libc.unshare(_CLONE_NEWNET) == 0:
        return
    if _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise DeviceFailed(f"no network namespace of its own ({reason}): run it as root, or allow user namespaces")
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")


def add_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Create veth pairs and bring them up, without IPv6: its own messages would be counted as traffic."""
    for scope in ("all", "default"):
        with suppress(OSError):  # a kernel without IPv6
            Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("1", encoding="ascii")
    for ours, theirs in pairs:
        run("ip", "link", "add", ours, "type", "veth", "peer", "name", theirs)
        for device in (ours, theirs):
            run("ip", "link", "set", device, "up")


def run(*command: str, text: str | None = None, environment: dict[str, str] | None = None) -> str:
    """What a command prints. Raises DeviceFailed with its message."""
    try:
        done = subprocess.run(  # noqa: S603  # fixed programs with arguments that this package builds; no shell
            command, input=text, env=environment, capture_output=True, text=True, timeout=_COMMAND_TIMEOUT_S, check=False
        )
    except FileNotFoundError as error:
        raise DeviceFailed(f"{command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise DeviceFailed(f"{command[0]} did not end within {_COMMAND_TIMEOUT_S} s") from error
    if done.returncode != 0:
        raise DeviceFailed(f"{' '.join(command[:4])}: {(done.stderr or done.stdout).strip()[:500]}")
    return done.stdout


def missing(programs: Sequence[str]) -> list[str]:
    """The programs that are not installed."""
    return [program for program in programs if shutil.which(program) is None]
