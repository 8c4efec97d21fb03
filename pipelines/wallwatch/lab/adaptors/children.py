"""Programs that a device runs must not outlive it."""

from __future__ import annotations

import ctypes
import signal

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """In a child before it runs its program: the kernel ends it when this process dies, however it dies."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
