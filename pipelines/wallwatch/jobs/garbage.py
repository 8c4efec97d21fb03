"""When a job looks for garbage in cycles: seldom, and never while it takes messages.

Python looks for cycles whenever some thousand lists and dicts are new, and so once per some hundred messages: up to a fifth of the time of
a job that keeps the state of a fleet, none of which is in a cycle. Reference counts free all but what libraries leave in cycles.
"""

from __future__ import annotations

import gc
import time

EVERY_S = 300.0
"""What libraries leave in five minutes is little. Looking through the state of 40,000 RNICs takes less than a second."""

MOST_NEW = 2_000_000
"""Lists, dicts and the like that are there in addition since the last look, some 200 MB, are looked through before their time."""


class Garbage:
    """Takes over from the collector of Python, for the whole process. To be made when what stays for ever is there: that is left out.

    Parameters
    ----------
    every_s : float
        How long the next look is put off.
    most_new : int
        The growth that makes it due earlier.
    """

    def __init__(self, every_s: float = EVERY_S, most_new: int = MOST_NEW) -> None:
        self._every_s = every_s
        self._most_new = most_new
        gc.collect()
        gc.freeze()
        gc.disable()
        self._next = time.monotonic() + every_s

    def collect_when_due(self) -> bool:
        """Look for garbage if it is time; whether it was. Cheap: to be called between batches of messages."""
        # The count goes on while the collector is off, and is what was made less what was freed.
        if gc.get_count()[0] < self._most_new and time.monotonic() < self._next:
            return False
        gc.collect()
        self._next = time.monotonic() + self._every_s
        return True
