"""From a description to what a switch matches: relative numbers become addresses, QP numbers and PSNs (Lumina, section 3.3).

Data packets of SEND and WRITE go from the requester to the responder and count in the requester's PSNs. Responses of READ
come back to the requester's QP, and carry the PSNs of its requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from wallwatch.domain.transport.intents import EventKind, Intent, IntentError
from wallwatch.domain.transport.sequence import PSN_MASK, unwrapped


def _address(text: str) -> str:
    return str(ip_address(text))


class End(BaseModel):
    """One end of a connection, as its traffic generator reports it before the traffic starts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ip: Annotated[str, AfterValidator(_address)]
    qpn: int = Field(ge=0, le=0xFFFFFF)
    psn: int = Field(ge=0, le=PSN_MASK, description="Of its first packet")


class Connection(BaseModel):
    """Both ends of a connection."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requester: End
    responder: End


@dataclass(frozen=True)
class Entry:
    """One line of the switch's match-action table.

    Attributes:
        iteration: 1 the first time that the packet is sent; see `IterationCounter`.
    """

    source: str
    destination: str
    qpn: int
    psn: int
    iteration: int
    action: EventKind

    def __str__(self) -> str:
        return (
            f"{self.source} -> {self.destination}, QPN {self.qpn:#x}, PSN {self.psn}"
            f"{f', ITER {self.iteration}' if self.iteration > 1 else ''}: {self.action}"
        )


def parse_connections(raw: Any) -> list[Connection]:
    """Validate what the traffic generators reported.

    Raises:
        IntentError: naming each field that is wrong.
    """
    try:
        return TypeAdapter(list[Connection]).validate_python(raw)
    except ValidationError as error:
        lines = [f"connections.{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
        raise IntentError("\n".join(lines)) from None


def entries(intent: Intent, connections: Sequence[Connection]) -> list[Entry]:
    """The switch's table, in the order of the description's events.

    Raises:
        IntentError: an event names a connection of which nothing was reported.
    """
    traffic = intent.traffic
    found = []
    for place, event in enumerate(traffic.data_pkt_events):
        index = event.qpn - traffic.base
        if index >= len(connections):
            raise IntentError(f"data-pkt-events {place}: qpn {event.qpn} has no connection; {len(connections)} were reported")
        ends = connections[index]
        sender, receiver = (ends.responder, ends.requester) if traffic.rdma_verb == "read" else (ends.requester, ends.responder)
        psn = (ends.requester.psn + event.psn - traffic.base) & PSN_MASK
        found.append(Entry(sender.ip, receiver.ip, receiver.qpn, psn, event.iter, event.type))
    return found


class IterationCounter:
    """What a switch keeps per connection to tell a retransmission from the packet that was sent first (Lumina, figure 3).

    >>> counter = IterationCounter(first_psn=1)
    >>> [counter.next(psn) for psn in (1, 2, 3, 4, 2, 3, 4, 3, 4)]
    [1, 1, 1, 1, 2, 2, 2, 3, 3]
    """

    def __init__(self, first_psn: int) -> None:
        self._last = first_psn - 1
        self._iteration = 1

    def next(self, psn: int) -> int:
        """The iteration of the next packet, whose PSN this is."""
        number = unwrapped(psn, self._last)
        if number <= self._last:
            self._iteration += 1
        self._last = number
        return self._iteration


def iterations(first_psn: int, psns: Iterable[int]) -> list[int]:
    """The iteration of each packet of a connection."""
    counter = IterationCounter(first_psn)
    return [counter.next(psn) for psn in psns]
