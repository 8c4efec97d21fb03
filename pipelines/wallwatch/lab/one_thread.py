"""Arithmetic of the search in one thread: its matrices are small, and threads that wait for each other cost more than they save."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""What the libraries under numpy and scipy read once, when they are loaded."""


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Libraries that are loaded inside calculate in one thread. A variable that the user has set counts, and devices see none of these."""
    added = [name for name in VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
