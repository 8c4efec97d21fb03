"""A sentence per queue pair: its latencies against the catalogue's figures of the RNIC model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from wallwatch.domain.catalogue.transport import Range, TransportFigures, slower_factor
from wallwatch.domain.transport.queue_pairs import RESPONSE
from wallwatch.domain.transport.results import Percentiles, QueuePair

Verdict = Literal["as published", "slower", "faster", "unknown"]


@dataclass(frozen=True)
class LatencyVerdict:
    """Of one queue pair; `unknown` where nothing was measured or nothing is published."""

    qpn: int
    destination: str
    generation: Verdict
    reaction: Verdict
    sentence: str


def latency_verdicts(rows: Iterable[QueuePair], rtt_ns: int | None, figures: TransportFigures) -> list[LatencyVerdict]:
    """One verdict for each queue pair with a retransmission after a NACK.

    Medians are compared without half a round trip where that is known.
    """
    half = (rtt_ns or 0) // 2
    found = []
    for row in rows:
        if row.nack_reaction is None:
            continue
        published = figures.read if RESPONSE in row.verbs else figures.write
        generation = compare(row.nack_generation, published.nack_generation_us, half)
        reaction = compare(row.nack_reaction, published.nack_reaction_us, half)
        sentence = f"{figures.name}: NACK generation {generation}, NACK reaction {reaction}"
        found.append(LatencyVerdict(row.qpn, row.destination, generation, reaction, sentence))
    return found


def compare(measured: Percentiles | None, published: Range | None, half_rtt_ns: int) -> Verdict:
    """Compare a median with a published range.

    >>> compare(Percentiles(1, 9_000, 9_000), (2.0, 6.0), 0), compare(Percentiles(1, 90_000, 90_000), (2.0, 6.0), 0)
    ('as published', 'slower')
    """
    if measured is None or published is None:
        return "unknown"
    median_us = max(measured.p50_ns - half_rtt_ns, 0) / 1000
    factor = slower_factor()
    if median_us > published[1] * factor:
        return "slower"
    return "faster" if median_us < published[0] / factor else "as published"
