"""Runs a program under a seccomp profile in the form of Docker's, as a user without capabilities: `confined.py PROFILE UID COMMAND...`.

The profile is loaded by libseccomp, as container runtimes do it. The program cannot gain privileges any more.
"""

import ctypes
import ctypes.util
import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

PR_SET_NO_NEW_PRIVS = 38
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
COMPARISONS = {"SCMP_CMP_NE": 1, "SCMP_CMP_EQ": 4, "SCMP_CMP_MASKED_EQ": 7}
UNKNOWN_HERE = -1
"""A system call that this architecture does not have."""


class Comparison(ctypes.Structure):
    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


def action(rule: dict[str, Any], default_errno: int) -> int:
    if rule["action"] == "SCMP_ACT_ALLOW":
        return ALLOW
    return ERRNO | int(rule.get("errnoRet", default_errno))


def load(profile: dict[str, Any]) -> None:
    """Confine this process and what it becomes."""
    library = ctypes.CDLL(ctypes.util.find_library("seccomp") or "libseccomp.so.2", use_errno=True)
    library.seccomp_init.restype = ctypes.c_void_p
    default_errno = int(profile.get("defaultErrnoRet", errno.EPERM))
    filters = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ERRNO | default_errno)))
    for rule in profile["syscalls"]:
        compared = [Comparison(one["index"], COMPARISONS[one["op"]], one["value"], one.get("valueTwo", 0)) for one in rule.get("args", [])]
        # Of a masked comparison the first value is the mask.
        array = (Comparison * len(compared))(*compared)
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            if number == UNKNOWN_HERE:
                continue
            failed = library.seccomp_rule_add_array(filters, ctypes.c_uint32(action(rule, default_errno)), number, len(compared), array)
            if failed:
                raise OSError(-failed, f"the rule for {name} was refused")
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    failed = library.seccomp_load(filters)
    if failed:
        raise OSError(-failed, "the kernel refused the filter")


def command(profile: Path, uid: int, program: list[str]) -> list[str]:
    """The command that runs a program confined."""
    return [sys.executable, __file__, str(profile), str(uid), *program]


def main() -> None:
    """Give up root, then confine, then become the program."""
    profile, uid = json.loads(Path(sys.argv[1]).read_text()), int(sys.argv[2])
    if uid != 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)  # every capability goes with it
    load(profile)
    os.execvp(sys.argv[3], sys.argv[3:])


if __name__ == "__main__":
    main()
