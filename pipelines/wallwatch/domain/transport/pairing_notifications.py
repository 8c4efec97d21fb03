"""Pair flows that carry notifications alone: those of receivers whose acknowledgements were not captured.

A receiver answers marks after a delay that hardly varies. Of the flows that a notification may complain about, the right
one has a mark at that same distance before nearly every notification.
"""

from __future__ import annotations

import numpy as np

from wallwatch.domain.transport.connections import Connections, Flow
from wallwatch.domain.transport.frames import Integers
from wallwatch.domain.transport.roce import CNP, Packets

_MOST_CANDIDATES, _MOST_NOTIFICATIONS = 64, 256
_MARKS_BEFORE = 16
_MOST_DELAY_NS = 1_000_000
_WIDTH_NS = 128
_ENOUGH = 0.5
_SAME_PORT = 0.02
"""Decides among equals: an RNIC need not send notifications from the port of the connection."""


def pair_notifications(connections: Connections, packets: Packets, resolution_ns: float) -> None:
    """Pair the flows of this block that have notifications and no partner with the marked flow that they fit best."""
    whole = packets.icrc != 0
    notifying = np.flatnonzero((packets.opcode == CNP) & whole)
    if not len(notifying):
        return
    flows: dict[bytes, tuple[Flow, list[int]]] = {}
    for index in notifying.tolist():
        key = packets.key[index]
        flow = connections.flows.get(key) or connections.flow(key, int(packets.qpn[index]), int(packets.source_port[index]))
        if flow.partner is None:
            flows.setdefault(key, (flow, []))[1].append(int(packets.time_ns[index]))
    if not flows:
        return
    marks: dict[int, list[int]] = {}
    for index in np.flatnonzero(packets.congested & whole & (packets.opcode != CNP)).tolist():
        marked = connections.flows.get(packets.key[index])
        if marked is not None and marked.partner is None:
            marks.setdefault(id(marked), []).append(int(packets.time_ns[index]))
    width = max(_WIDTH_NS, 2 * int(resolution_ns))
    ranked: list[tuple[float, int, Flow, Flow]] = []
    for flow, times in flows.values():
        candidates = [other for other in connections.opposite(flow) if id(other) in marks]
        for other in candidates if len(candidates) <= _MOST_CANDIDATES else []:
            share = _explained(np.array(times[:_MOST_NOTIFICATIONS]), np.array(marks[id(other)]), width)
            ranked.append((share + _SAME_PORT * (flow.source_port == other.source_port), len(ranked), flow, other))
    for share, _, flow, other in sorted(ranked, key=lambda row: (-row[0], row[1])):
        if share >= _ENOUGH and flow.partner is None and other.partner is None:
            connections.pair(flow, other)


def _explained(notifications: Integers, marks: Integers, width: int) -> float:
    """Share of the notifications that have a mark at the commonest distance before them."""
    until = np.searchsorted(marks, notifications, side="right")
    place = until[:, None] - 1 - np.arange(_MARKS_BEFORE)
    distance = notifications[:, None] - marks[np.maximum(place, 0)]
    valid = (place >= 0) & (distance <= _MOST_DELAY_NS)
    owner = np.broadcast_to(np.arange(len(notifications))[:, None], distance.shape)
    # One notification counts once per bin; two bins, since a delay may lie at the edge of one.
    bins = np.unique(np.stack([distance[valid] // width, owner[valid]]), axis=1)[0]
    if not len(bins):
        return 0.0
    values, counts = np.unique(bins, return_counts=True)
    following = np.where(np.append(values[1:] == values[:-1] + 1, False), np.append(counts[1:], 0), 0)
    return min(1.0, float((counts + following).max()) / len(notifications))
