"""Keeps the lines that native libraries print away from a command's answer.

Solvers and trees are C++ and write to the process's stdout when they please, whatever Python's `sys.stdout` is and whatever their options
for silence say. A single line of theirs would spoil `--json`, so while they compute, stdout is stderr.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_STDOUT, _STDERR = 1, 2


@contextmanager
def native_output_on_stderr() -> Iterator[None]:
    """Send what is written to the descriptor of stdout to stderr instead; Python's own output must wait until afterwards.

    For commands only: the descriptor belongs to the whole process, so no other thread may print meanwhile.
    """
    library = ctypes.CDLL(None)
    library.fflush(None)  # what C has buffered belongs to where stdout leads now
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        yield
    finally:
        library.fflush(None)
        os.dup2(kept, _STDOUT)
        os.close(kept)
