"""Descriptions of transport tests (Lumina, sections 3.1 and 3.2, listings 1 and 2): hosts, traffic, events.

Two generations of the format are in use. The paper's has `num-connections` and numbers connections and packets from 1;
that of Lumina's published program has `num-qps` and numbers them from 0. The name decides, so a description never means both.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Interface, IPv6Interface
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wallwatch.domain.transport.reads import MTUS

Verb = Literal["write", "read", "send"]
EventKind = Literal["ecn", "drop", "corrupt"]
MOST_EVENTS, MOST_CONNECTIONS = 100_000, 10_000
"""What the injector of the paper holds (section 5)."""


class IntentError(ValueError):
    """A description that cannot be run; each line names a field and what is wrong with it."""


def _dashed(name: str) -> str:
    return name.replace("_", "-")


class _Part(BaseModel):
    """Names have dashes, as in Lumina's files."""

    model_config = ConfigDict(alias_generator=_dashed, populate_by_name=True, extra="forbid", frozen=True)


class RoceParameters(_Part):
    """Settings of an RNIC's transport."""

    dcqcn_rp_enable: bool = False
    dcqcn_np_enable: bool = True
    min_time_between_cnps: int = Field(default=0, ge=0, le=1_000_000)
    adaptive_retrans: bool = False
    slow_restart: bool = True


class Nic(BaseModel):
    """An RNIC; further fields say how to reach it and are not ours."""

    model_config = ConfigDict(alias_generator=_dashed, populate_by_name=True, extra="ignore", frozen=True)

    type: Annotated[str, Field(min_length=1, max_length=40)]
    ip_list: list[IPv4Interface | IPv6Interface] = Field(min_length=1, max_length=1024)


class Host(BaseModel):
    """One end of the traffic; further fields say where its programs are and are not ours."""

    model_config = ConfigDict(alias_generator=_dashed, populate_by_name=True, extra="ignore", frozen=True)

    nic: Nic
    roce_parameters: RoceParameters = RoceParameters()


class Event(_Part):
    """What happens to one data packet: numbers as the description counts, iterations from 1."""

    qpn: int = Field(ge=0, description="Which connection")
    psn: int = Field(ge=0, description="Which packet of it")
    type: EventKind
    iter: int = Field(default=1, ge=1, le=1000, description="1 the first time that it is sent, 2 the second time")


class Traffic(_Part):
    """Connections, messages and events."""

    num_connections: int | None = Field(default=None, ge=1, le=MOST_CONNECTIONS)
    num_qps: int | None = Field(default=None, ge=1, le=MOST_CONNECTIONS)
    rdma_verb: Verb
    num_msgs_per_qp: int = Field(ge=1, le=1_000_000)
    mtu: int
    message_size: int = Field(ge=1, le=1 << 31)
    listen_port: int = Field(default=13579, ge=1, le=65535)
    multi_gid: bool = False
    barrier_sync: bool = False
    tx_depth: int = Field(default=1, ge=1, le=32768)
    min_retransmit_timeout: int = Field(default=14, ge=0, le=31)
    max_retransmit_retry: int = Field(default=7, ge=0, le=7)
    data_pkt_events: list[Event] = Field(default_factory=list, max_length=MOST_EVENTS)

    @property
    def connections(self) -> int:
        """How many connections there are."""
        return self.num_connections or self.num_qps or 0

    @property
    def base(self) -> Literal[0, 1]:
        """The number of the first connection, and of the first packet."""
        return 1 if self.num_connections is not None else 0

    @property
    def packets_per_message(self) -> int:
        return max(1, -(-self.message_size // self.mtu))

    @property
    def packets(self) -> int:
        """Data packets of one connection."""
        return self.packets_per_message * self.num_msgs_per_qp

    @model_validator(mode="after")
    def _consistent(self) -> Traffic:
        if (self.num_connections is None) == (self.num_qps is None):
            raise ValueError("exactly one of num-connections (numbers from 1) and num-qps (numbers from 0) is required")
        if self.mtu not in MTUS:
            raise ValueError(f"mtu {self.mtu} must be one of {', '.join(map(str, MTUS))}")
        problems = [problem for place, event in enumerate(self.data_pkt_events) for problem in self._problems(place, event)]
        planned: dict[tuple[int, int, int], int] = {}
        for place, event in enumerate(self.data_pkt_events):
            earlier = planned.setdefault((event.qpn, event.psn, event.iter), place)
            if earlier != place:
                problems.append(f"data-pkt-events {place}: the same packet and iteration as event {earlier}")
        if problems:
            raise ValueError("; ".join(problems[:10]))
        return self

    def _problems(self, place: int, event: Event) -> list[str]:
        last_connection, last_packet = self.base + self.connections - 1, self.base + self.packets - 1
        found = []
        if not self.base <= event.qpn <= last_connection:
            found.append(f"data-pkt-events {place}: qpn {event.qpn} is outside {self.base} to {last_connection}")
        if not self.base <= event.psn <= last_packet:
            found.append(f"data-pkt-events {place}: psn {event.psn} is outside {self.base} to {last_packet}")
        return found


class Intent(BaseModel):
    """A transport test. Fields that say where switches and programs are belong to the adaptor and are kept by nobody."""

    model_config = ConfigDict(alias_generator=_dashed, populate_by_name=True, extra="ignore", frozen=True)

    requester: Host
    responder: Host
    traffic: Traffic


def parse_intent(raw: Any) -> Intent:
    """Validate a description that was read from YAML or JSON.

    Raises:
        IntentError: naming each field that is wrong.
    """
    if not isinstance(raw, Mapping):
        raise IntentError("the description must be a mapping with requester, responder and traffic")
    try:
        return Intent.model_validate(raw)
    except ValidationError as error:
        raise IntentError("\n".join(_line(problem) for problem in error.errors())) from None


def _line(problem: Any) -> str:
    place = ".".join(str(part) for part in problem["loc"]) or "description"
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"{place}: {message[:1].lower()}{message[1:]}"
