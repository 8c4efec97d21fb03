"""Pair directions by looking ahead over a block of packets, before they are analysed in order.

One acknowledgement alone often fits several connections, above all when all start with the same PSN. Over a block, the
others drop out: at some time their data had not come as far as the acknowledgement.
"""

from __future__ import annotations

from collections import Counter

from wallwatch.domain.transport.connections import MOST_EARLIER, Connections, Flow
from wallwatch.domain.transport.reads import spans
from wallwatch.domain.transport.roce import READ_REQUEST, WITH_INVALIDATE, Packets
from wallwatch.domain.transport.sequence import PSN_MASK, unwrapped

_SEQUENCE_ERROR = 0x60
_MOST_CANDIDATES = 64
"""With more connections between two addresses, comparing each answer with each is too slow."""
_MOST_ANSWERS = 256
"""Answers of a flow that are compared; later ones add nothing but time."""
_OUTSIDE, _INSIDE, _EXACT, _SAME_PORT = -1000, 1, 4, 3
_OBEYED = 50
"""A NACK whose PSN the data then go back to."""
_EARLIER = -2
"""An answer to data that were lost, or sent before the capture began, says little."""
_REQUESTS = frozenset({*range(13), 19, 20, *WITH_INVALIDATE})
_ANSWERS = frozenset(range(13, 19))


def pair_ahead(connections: Connections, packets: Packets) -> None:
    """Pair the flows of this block whose answers fit one another best."""
    windows: dict[int, tuple[int, int]] = {}
    scores: dict[tuple[int, int], int] = {}
    flows: dict[int, Flow] = {}
    answers: Counter[int] = Counter()
    nacks: dict[tuple[int, int], list[int]] = {}
    """Flows that may have sent a NACK with a PSN, by the data's flow and that PSN."""
    columns = zip(packets.key, packets.opcode.tolist(), packets.psn.tolist(), (packets.icrc == 0).tolist(), strict=True)
    for index, (key, opcode, psn, damaged) in enumerate(columns):
        if damaged or (opcode not in _REQUESTS and opcode not in _ANSWERS):
            continue
        flow = connections.flows.get(key) or connections.flow(key, int(packets.qpn[index]), int(packets.source_port[index]))
        if flow.partner:
            continue
        flows[id(flow)] = flow
        if opcode in _REQUESTS:
            first, top = windows.get(id(flow), (psn, psn))
            if psn != top & PSN_MASK:
                for asking in nacks.pop((id(flow), psn), ()):
                    pair = asking, id(flow)
                    scores[pair] = scores.get(pair, 0) + _OBEYED
            span = max(spans(max(int(packets.dma_length[index]), 0))) if opcode == READ_REQUEST else 1
            windows[id(flow)] = first, max(top, unwrapped(psn, top) + span)
            continue
        candidates = connections.opposite(flow)
        answers[id(flow)] += 1
        if len(candidates) > _MOST_CANDIDATES or answers[id(flow)] > _MOST_ANSWERS:
            continue
        for other in candidates:
            pair = id(flow), id(other)
            scores[pair] = scores.get(pair, 0) + _fit(flow, other, psn, windows.get(id(other)))
            if packets.syndrome[index] == _SEQUENCE_ERROR:
                nacks.setdefault((id(other), psn), []).append(id(flow))
    for _, one, other_id in sorted(((score, *pair) for pair, score in scores.items() if score > 0), key=lambda row: -row[0]):
        if not (flows[one].partner or flows[other_id].partner):
            connections.pair(flows[one], flows[other_id])


def _fit(flow: Flow, other: Flow, psn: int, window: tuple[int, int] | None) -> int:
    """How well an answer of `flow` fits the data of `other` that was sent before."""
    if window is None:
        return _OUTSIDE
    number = unwrapped(psn, window[1] - 1)
    if not window[0] - 1 <= number < window[1]:
        return _EARLIER if window[0] - MOST_EARLIER <= number < window[0] else _OUTSIDE
    return _INSIDE + _EXACT * (number == window[1] - 1) + _SAME_PORT * (flow.source_port == other.source_port)
