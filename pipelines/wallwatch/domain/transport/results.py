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


@dataclass
class Findings:
    """What the state machines collect."""

    retransmissions: list[Retransmission] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    timeout_waits: dict[int, list[int]] = field(default_factory=dict)
    reordered: int = 0
    reorder_distance: int = 0
    duplicate_frames: int = 0
    rnr_resends: int = 0

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
    mirror: dict[str, object] | None
    notes: dict[str, int]
