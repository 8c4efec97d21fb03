"""Garbage collection while thousands of flows are read or planned."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Reading or planning flows creates some hundred thousand objects and no cycles: the collector would look through all of them again and
    again for nothing."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
