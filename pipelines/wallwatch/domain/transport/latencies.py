"""Latencies without the way between capture point and RNIC."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from wallwatch.domain.transport.direction import Direction
from wallwatch.domain.transport.results import Corrected, HalfRoundTrip, Percentiles


def half_rtt(directions: Sequence[Direction], given_ns: int | None) -> HalfRoundTrip:
    """Subtract half a round trip from generation and reaction each.

    A switch halfway sees the packet on its way and the answer on its way back: each part holds the way from the switch to
    one host and back, half of the hosts' round trip.
    """
    source: Literal["given", "estimated"] | None = "given" if given_ns is not None else None
    rtt_ns = given_ns
    if given_ns is None:
        answers = [one.shortest_answer for one in directions if one.shortest_answer is not None]
        if answers:
            rtt_ns, source = 2 * max(min(answers), 0), "estimated"
    half = (rtt_ns or 0) // 2

    def less(value: int | None) -> int | None:
        return None if value is None else max(value - half, 0)

    found = sorted((resent for one in directions for _, resent in one.resent), key=lambda resent: resent.frame_retransmission)
    corrected = [
        Corrected(one.frame_retransmission, less(one.nack_generation_ns), less(one.nack_reaction_ns)) for one in found if one.kind == "nack"
    ]
    return HalfRoundTrip(rtt_ns, source, corrected if rtt_ns is not None else [])


def percentiles(values: Iterable[int | None]) -> Percentiles | None:
    """Median and 99th percentile by nearest rank; None without values.

    >>> percentiles([3, None, 1, 2])
    Percentiles(count=3, p50_ns=2, p99_ns=3)
    """
    known = sorted(value for value in values if value is not None)
    if not known:
        return None
    return Percentiles(len(known), known[(len(known) - 1) // 2], known[-(-len(known) * 99 // 100) - 1])
