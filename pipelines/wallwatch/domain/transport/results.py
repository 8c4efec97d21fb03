"""What the analysis of a capture found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["nack", "timeout"]
NOT_GO_BACK_N, ACK_GOES_BACK = "not_go_back_n", "ack_goes_back"
SECOND_NACK, NACK_WRONG_PSN, NO_NACK = "second_nack_in_flight", "nack_wrong_psn", "no_nack_after_gap"


@dataclass(frozen=True)
class Retransmission:
    """The sender went back to `psn`. Frame numbers start at 1.

    Attributes:
        iteration: how often the connection's data has been sent once this round is counted (Lumina, section 3.3).
        nack_generation_ns: from the first delivered packet behind the lost one to the NACK; None without a NACK, or where
            that packet is not in the capture.
        nack_reaction_ns: from the NACK to the first packet of the retransmission.
    """

    psn: int
    qpn: int
    kind: Kind
    iteration: int
    frame_retransmission: int
    frame_nack: int | None = None
    frame_trigger: int | None = None
    nack_generation_ns: int | None = None
    nack_reaction_ns: int | None = None


@dataclass(frozen=True)
class Violation:
    """A frame after which no go-back-N state machine could be in a valid state."""

    frame: int
    kind: str
    qpn: int


@dataclass(frozen=True)
class Timeouts:
    """The waits before consecutive timeout retransmissions of a QP, in order."""

    qpn: int
    intervals_ns: list[int]
    specification_minimum_ns: int
    below_minimum: bool


@dataclass(frozen=True)
class NotificationPoint:
    """How a receiver limits its congestion notifications.

    Attributes:
        mode: the scope of its interval; None where the capture does not decide.
        also_possible: other scopes that explain the capture as well.
        min_interval_ns: smallest interval between two CNPs of one scope key; None with fewer than two.
    """

    notification_point: str
    mode: str | None
    also_possible: list[str]
    min_interval_ns: int | None
    ce_marked: int
    cnps: int


@dataclass(frozen=True)
class Corrected:
    """Latencies of one retransmission without half a round trip each; never below 0."""

    frame_retransmission: int
    nack_generation_ns: int | None
    nack_reaction_ns: int | None


@dataclass(frozen=True)
class HalfRoundTrip:
    """The correction for a capture point halfway between the hosts (Lumina, section 4).

    Attributes:
        rtt_ns: round trip between the hosts; None where it is neither given nor to be estimated.
        source: "given", or "estimated": twice the shortest time from a packet to its acknowledgement.
    """

    rtt_ns: int | None
    source: Literal["given", "estimated"] | None
    corrected: list[Corrected]


@dataclass(frozen=True)
class Percentiles:
    """Of the latencies of one queue pair, in nanoseconds."""

    count: int
    p50_ns: int
    p99_ns: int


@dataclass(frozen=True)
class QueuePair:
    """Data from one source to one destination QP.

    Attributes:
        network: VXLAN or Geneve network, None outside tunnels.
        verbs: what was sent: SEND, WRITE, READ (requests), READ response, atomic.
        wasted: packets sent behind a lost one, which go-back-N throws away.
        useful_share: of the packets; None without packets.
        cnps: notifications that the source got for these data.
    """

    qpn: int
    source: str
    destination: str
    network: int | None
    verbs: list[str]
    packets: int
    retransmissions: int
    timeouts: int
    spurious: int
    wasted: int
    useful_share: float | None
    ce_marked: int
    cnps: int
    nack_generation: Percentiles | None
    nack_reaction: Percentiles | None


@dataclass
class Findings:
    """What the state machines collect."""

    retransmissions: list[Retransmission] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    reordered: int = 0
    reorder_distance: int = 0
    duplicate_frames: int = 0
    rnr_resends: int = 0
    spurious_retransmissions: int = 0

    def violate(self, frame: int, kind: str, qpn: int) -> None:
        self.violations.append(Violation(frame, kind, qpn))

    def late(self, count: int, distance: int) -> None:
        self.reordered += count
        self.reorder_distance = max(self.reorder_distance, distance)


@dataclass(frozen=True)
class Analysis:
    """One file's result; `cli.capture` prints exactly these names."""

    frames: int
    roce: int
    cut: int
    truncated: bool
    resolution_ns: float
    icrc: Literal["ok", "bad", "unknown"]
    bad_icrc_frames: list[int]
    rc_qps: int
    vxlan_qps: int
    conforms: bool
    retransmissions: list[Retransmission]
    violations: list[Violation]
    notification_points: list[NotificationPoint]
    timeouts: list[Timeouts]
    migreq_zero_qpns: list[int]
    reordered: int
    reorder_distance: int
    unpaired_directions: int
    duplicate_frames: int
    rnr_resends: int
    spurious_retransmissions: int
    half_rtt: HalfRoundTrip
    qps: list[QueuePair]
    mirror: dict[str, object] | None
    notes: dict[str, int]
