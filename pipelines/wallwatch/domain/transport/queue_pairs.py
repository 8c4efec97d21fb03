"""One row per direction of data, and its PSNs over time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wallwatch.domain.transport.connections import Flow, address
from wallwatch.domain.transport.direction import Direction
from wallwatch.domain.transport.latencies import percentiles
from wallwatch.domain.transport.results import QueuePair
from wallwatch.domain.transport.roce import WITH_INVALIDATE
from wallwatch.domain.transport.sequence import unwrapped
from wallwatch.domain.transport.series import Series

_VERBS = (("SEND", (*range(6), *WITH_INVALIDATE)), ("WRITE", range(6, 12)), ("READ", range(12, 13)), ("atomic", range(19, 21)))
RESPONSE = "READ response"


def queue_pairs(flows: Iterable[Flow]) -> list[QueuePair]:
    """Every flow that carried data, those with retransmissions first, then by packets."""
    rows = [_row(flow) for flow in flows if flow.request_packets or flow.response_packets]
    return sorted(rows, key=lambda row: (-row.retransmissions, -row.packets, row.destination, row.qpn))


def _row(flow: Flow) -> QueuePair:
    resent = [found for direction in (flow.requests, flow.responses) for _, found in direction.resent]
    packets = flow.request_packets + flow.response_packets
    wasted = flow.requests.wasted + flow.responses.wasted
    return QueuePair(
        qpn=flow.qpn,
        source=address(flow.source),
        destination=address(flow.destination),
        network=network(flow),
        verbs=verbs(flow),
        packets=packets,
        retransmissions=len(resent),
        timeouts=sum(found.kind == "timeout" for found in resent),
        spurious=flow.requests.spurious + flow.responses.spurious,
        wasted=wasted,
        useful_share=max(0.0, 1 - (wasted + len(resent)) / packets),
        ce_marked=flow.marks,
        cnps=flow.cnps,
        nack_generation=percentiles(found.nack_generation_ns for found in resent),
        nack_reaction=percentiles(found.nack_reaction_ns for found in resent),
    )


def network(flow: Flow) -> int | None:
    """Network identifier of the tunnel around a flow."""
    number = int.from_bytes(flow.tunnel)
    return None if number == 0 else (number - 1) & 0xFFFFFF


def verbs(flow: Flow) -> list[str]:
    """What the flow carried."""
    found = [name for name, opcodes in _VERBS if any(flow.opcodes >> opcode & 1 for opcode in opcodes)]
    return found + [RESPONSE] * bool(flow.response_packets)


@dataclass(frozen=True)
class SeriesOfQueuePair:
    """PSNs over time of one direction of data; times in nanoseconds since 1970, PSNs unwrapped.

    Attributes:
        stride: one point stands for so many packets.
        points: time and PSN.
        resent: time, PSN and kind of each retransmission.
        losses: time and PSN at which a packet turned out to be missing.
        nacks: time and PSN.
        cnps: times.
    """

    qpn: int
    source: str
    destination: str
    network: int | None
    responses: bool
    stride: int
    points: list[tuple[int, int]]
    resent: list[tuple[int, int, str]]
    losses: list[tuple[int, int]]
    nacks: list[tuple[int, int]]
    cnps: list[int]


def series_of(flows: Iterable[Flow], most: int = 200) -> list[SeriesOfQueuePair]:
    """Series of at most `most` directions: those with retransmissions first, then those with most packets."""
    rows: list[tuple[tuple[int, int], SeriesOfQueuePair]] = []
    for flow in flows:
        for direction, series, count, responses in (
            (flow.requests, flow.request_series, flow.request_packets, False),
            (flow.responses, flow.response_series, flow.response_packets, True),
        ):
            if series and series.points:
                rows.append(((-len(direction.resent), -count), _series(flow, direction, series, responses=responses)))
    return [row for _, row in sorted(rows, key=lambda ranked: ranked[0])[:most]]


def _series(flow: Flow, direction: Direction, series: Series, *, responses: bool) -> SeriesOfQueuePair:
    near = direction.top
    waits = iter(direction.waits)
    resent: list[tuple[int, int, str]] = []
    losses: list[tuple[int, int]] = []
    for time_ns, found in direction.resent[: series.most]:
        number = unwrapped(found.psn, near)
        resent.append((time_ns, number, found.kind))
        if found.kind == "timeout":
            losses.append((time_ns - next(waits, 0), number))
        elif found.nack_generation_ns is not None and found.nack_reaction_ns is not None:
            losses.append((time_ns - found.nack_reaction_ns - found.nack_generation_ns, number))
    return SeriesOfQueuePair(
        flow.qpn, address(flow.source), address(flow.destination), network(flow), responses,
        series.stride, series.points, resent, losses, series.nacks, series.cnps,
    )  # fmt: skip
