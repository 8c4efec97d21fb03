"""Steps of a host's clock. Pure; what is remembered is plain JSON.

Samples come out of order by a few seconds, so one that is older than its predecessors proves nothing. But then none of those that come
after the newest one is older than it by more than these few seconds. So samples of one source that keep coming for longer than that, by
their own times, and never reach the newest one, have a clock that was set back.
"""

from __future__ import annotations

REORDERED_MS = 5_000
"""Samples of one source come out of order by less than this."""

FOLLOWING = 3
"""Samples that follow each other by the new clock. The first may be a straggler from before the step, and does not count as time."""

Behind = dict[str, list[int]]
"""`{source: [time of the second, time of the last, how many]}` of the samples behind the newest of their source."""


def set_back(behind: Behind, source: str, newest_ms: int, at_ms: int) -> bool:
    """Whether this sample shows that the clock was set back; `behind` moves on.

    >>> behind = {}
    >>> [set_back(behind, "rnic", 100_000, at_ms) for at_ms in (71_000, 72_000, 75_000, 74_000, 77_000)]
    [False, False, False, False, True]
    """
    if at_ms >= newest_ms:
        behind.pop(source, None)
        return False
    run = behind.get(source)
    if run is None or at_ms <= run[1] - REORDERED_MS:
        behind[source] = [at_ms, at_ms, 1]
        return False
    if at_ms <= run[1]:
        return False
    second = at_ms if run[2] == 1 else run[0]
    behind[source] = [second, at_ms, run[2] + 1]
    if run[2] + 1 < FOLLOWING or at_ms - second < REORDERED_MS:
        return False
    del behind[source]
    return True
