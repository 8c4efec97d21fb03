"""A curve of drops that was measured: more load never gives throughput back, whatever the noise of two points says."""

from __future__ import annotations

from collections.abc import Sequence


def ascending(values: Sequence[float]) -> list[float]:
    """The closest values, by least squares, that never fall and are not negative (pool adjacent violators).

    Values that ascend come back as they are.

    >>> ascending([0.0, 0.1, 0.08, 0.3])
    [0.0, 0.09, 0.09, 0.3]
    >>> ascending([-0.01, 0.02])
    [0.0, 0.02]
    """
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (first, first_count), (last, last_count) = pools[-2:]
            count = first_count + last_count
            pools[-2:] = [((first * first_count + last * last_count) / count, count)]
    return [max(value, 0.0) for value, count in pools for _ in range(count)]
