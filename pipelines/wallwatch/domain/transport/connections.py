"""Who talks to whom: the two directions of each connection.

A packet names only its destination QP, so which direction belongs to which is inferred: an acknowledgement's PSN lies in
the window of the data that it acknowledges.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field

from wallwatch.domain.transport.direction import Direction
from wallwatch.domain.transport.reads import ReadRequests
from wallwatch.domain.transport.results import Findings
from wallwatch.domain.transport.sequence import unwrapped
from wallwatch.domain.transport.series import Series

_V4_PREFIX = bytes(10) + b"\xff\xff"


@dataclass
class Flow:
    """Packets of one source to one destination QP.

    Attributes:
        requests: data that the source sends on its own account (SEND, WRITE, READ requests, atomics).
        responses: data with which the source answers READ requests of the destination.
        partner: the flow in the other direction, once inferred.
    """

    qpn: int
    source: bytes
    destination: bytes
    tunnel: bytes
    requests: Direction
    responses: Direction
    reads: ReadRequests = field(default_factory=ReadRequests)
    source_port: int = 0
    partner: Flow | None = None
    connected: bool = False
    """A packet of the reliable-connected service was seen."""
    last_mark: int = -1
    marks: int = 0
    cnps: int = 0
    """Notifications that complain about this flow."""
    last_cnp: tuple[int, int] = (-1, -1)
    """Time and IP identification of the last CNP that this flow carried."""
    request_packets: int = 0
    response_packets: int = 0
    opcodes: int = 0
    """Bit n is set when opcode n was seen (n < 32)."""
    request_series: Series | None = None
    response_series: Series | None = None


Endpoint = tuple[bytes, int]
"""Address as in a flow's key, QP number."""


_MOST_COMPARISONS = 5_000_000
"""Candidates looked at for all flows together; without a bound, a capture of one direction only would take minutes."""
MOST_EARLIER = 256
"""So far below the first PSN of a capture may an answer lie: to data that were lost, or sent before the capture began."""


class Connections:
    """All flows of a capture by key (see `roce.Packets.key`)."""

    def __init__(self, findings: Findings, given: Mapping[Endpoint, Endpoint] | None = None, *, series: bool = False) -> None:
        self._findings = findings
        self._given = dict(given or {})
        self._series = series
        self.flows: dict[bytes, Flow] = {}
        self._comparisons = 0
        self._unpaired: dict[tuple[bytes, bytes, bytes], list[Flow]] = {}

    def flow(self, key: bytes, qpn: int, source_port: int) -> Flow:
        """The flow of this key, created when new."""
        flow = self.flows.get(key)
        if flow is None:
            flow = Flow(qpn, key[4:20], key[20:36], key[:4], Direction(qpn, self._findings), Direction(qpn, self._findings))
            flow.source_port = source_port
            if self._series:
                flow.request_series, flow.response_series = Series(), Series()
            self.flows[key] = flow
            self._unpaired.setdefault((flow.tunnel, flow.source, flow.destination), []).append(flow)
            partner = self._given_partner(flow) if self._given else None
            if partner:
                self.pair(flow, partner)
        return flow

    def _given_partner(self, flow: Flow) -> Flow | None:
        other = self._given.get((flow.destination, flow.qpn))
        if other is None or other[0] != flow.source:
            return None
        return next((candidate for candidate in self.opposite(flow) if candidate.qpn == other[1]), None)

    def given(self, flow: Flow) -> bool:
        """Whether the user named this flow's connection, so that nothing is to be inferred."""
        return (flow.destination, flow.qpn) in self._given

    def answering(self, flow: Flow, psn: int, time_ns: int) -> Flow | None:
        """The flow whose requests `flow` answers with this PSN; None while it can't be known."""
        if flow.partner or (self._given and self.given(flow)):
            return flow.partner
        candidates: list[tuple[tuple[bool, bool, bool, bool, int], int, Flow]] = []
        others = self._affordable(flow)
        for other in others:
            data = other.requests
            if other is flow or not data.started:
                continue
            number = unwrapped(psn, data.top - 1)
            if data.first - MOST_EARLIER <= number < data.top + (other.reads.longest if other.reads else 0):
                rank = (
                    number < data.first - 1,
                    other.source_port != flow.source_port,
                    number != data.top - 1,
                    data.acknowledged is not None,
                    time_ns - data.last_time,
                )
                candidates.append((rank, len(candidates), other))
        return self.pair(flow, min(candidates)[2]) if candidates else None

    def marked(self, flow: Flow) -> Flow | None:
        """The flow that a CNP of `flow` complains about: its partner, or the last one that was marked."""
        if flow.partner or (self._given and self.given(flow)):
            return flow.partner
        others = self._affordable(flow)
        latest = max((other for other in others if other.last_mark >= 0), key=lambda other: other.last_mark, default=None)
        return self.pair(flow, latest) if latest else None

    def opposite(self, flow: Flow) -> list[Flow]:
        """Flows in the other direction that have no partner, and none given."""
        flows = self._unpaired.get((flow.tunnel, flow.destination, flow.source), [])
        return [other for other in flows if not self.given(other)] if self._given and not self.given(flow) else flows

    def asked(self, flow: Flow) -> list[Flow]:
        """The flows whose state `answering` may look at."""
        if flow.partner:
            return [flow.partner]
        return self.opposite(flow) if self._comparisons <= _MOST_COMPARISONS else []

    def _affordable(self, flow: Flow) -> list[Flow]:
        others = self.opposite(flow)
        self._comparisons += len(others)
        return others if self._comparisons <= _MOST_COMPARISONS else []

    def pair(self, one: Flow, other: Flow) -> Flow:
        """Make both directions of one connection; returns `other`."""
        one.partner, other.partner = other, one
        for flow in (one, other):
            place = (flow.tunnel, flow.source, flow.destination)
            self._unpaired[place] = [left for left in self._unpaired[place] if left is not flow]
        return other

    def unpaired(self) -> int:
        """Directions of reliable connections whose other direction is unknown."""
        return sum(flow.connected and flow.partner is None for flow in self.flows.values())


def packed_address(text: str) -> bytes:
    """An address as in a flow's key.

    Raises:
        ValueError: the text is no IPv4 or IPv6 address.

    >>> packed_address("10.0.0.1").hex()
    '00000000000000000000ffff0a000001'
    """
    parsed = ipaddress.ip_address(text)
    return _V4_PREFIX + parsed.packed if parsed.version == 4 else parsed.packed


def address(packed: bytes) -> str:
    """An address of a flow key as text."""
    if packed.startswith(_V4_PREFIX):
        return str(ipaddress.IPv4Address(packed[12:]))
    return str(ipaddress.IPv6Address(packed))
