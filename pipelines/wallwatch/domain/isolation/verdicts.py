"""What the detector says about one interval of one RNIC."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Mechanism(StrEnum):
    """Where the isolation broke (PicNIC, section 2; appendix A for the cases of hardware VFs)."""

    PACKET_RATE = "ingress packet rate"
    BANDWIDTH = "ingress bandwidth"
    EGRESS = "egress buffer"
    PCIE = "pcie"
    CPU = "cpu"


class State(StrEnum):
    """What is known of the promise to one VF in one interval."""

    KEPT = "kept"
    BROKEN = "broken"
    UNKNOWN = "unknown"
    NOT_PROMISED = "not promised"


@dataclass(slots=True)
class VfVerdict:
    """One VF in one interval. Rates are per second; None where they are unknown."""

    vf: str
    state: State
    reason: str
    """Why the state is what it is, in words; empty for a promise that is plainly kept."""
    share: float | None
    """Offered share of the ingress engine, 0..; 1 is the engine's capacity."""
    fair_share: float | None
    """What the VF may use of the engine when all VFs ask for as much as in this interval, by weight (MAX)."""
    rx_bps: float | None
    tx_bps: float | None
    rx_pps: float | None
    tx_pps: float | None
    dropped_per_s: float | None
    """Packets that the VF lost in either direction, without those of its own limiter."""
    delay_p50_us: float | None
    delay_p99_us: float | None


@dataclass(slots=True)
class Verdict:
    """All VFs of an RNIC in the interval `(t - interval_s, t]`."""

    t: float
    interval_s: float
    estimated: bool
    """True when the interval is longer than 1.5 s: the second in which something broke is then unknown within it."""
    mechanism: Mechanism | None
    """None: no promise was broken."""
    victims: tuple[str, ...]
    aggressors: tuple[str, ...]
    """Largest share first. Empty although a promise was broken: the sender could not be identified."""
    vfs: dict[str, VfVerdict]
    load: float | None
    """Offered load of the ingress engine; 1 is its capacity. None before anything is known of the capacity."""
    port_drops_per_s: float | None
    """Packets that the port or the engine dropped on receive, per second; without drops of the VFs' own limiters."""
    paper_breakage: bool
    """The paper's own measure (section 2.4): more than 10,000 ingress drops per second."""
    known: bool = True
    """False: the interval could not be judged (counters reset on most VFs, or no rates at all)."""
    notes: tuple[str, ...] = field(default=())
    """What was seen and is no breakage: delay of a single VF, few drops, a VF at its own limiter."""

    @property
    def broken(self) -> bool:
        """Whether a promise was broken."""
        return self.mechanism is not None
