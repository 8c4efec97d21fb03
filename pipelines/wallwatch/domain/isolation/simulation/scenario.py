"""What a simulation is asked: VFs with envelopes and demands, an engine, mechanisms, and changes to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from wallwatch.domain.isolation.simulation.egress import EgressSettings
from wallwatch.domain.isolation.simulation.engine import STANDARD_ENGINE, EngineSettings
from wallwatch.domain.isolation.simulation.pccb import ALPHA, EPOCH_US, FEEDBACK_US
from wallwatch.domain.isolation.simulation.pccp import STEADY, PccpParameters


@dataclass(frozen=True)
class Demand:
    """What senders offer to a VF from `at_ms` until the VF's next demand."""

    at_ms: float
    kpps: float
    packet_bytes: int = 1500
    senders: int = 1
    paced: bool = False
    """True: nearly regular packets, as from a timing wheel; False: a Poisson process."""


@dataclass(frozen=True)
class Window:
    """Cooperating senders for the whole run instead of demands: flows like TCP's, that send as much as is not dropped."""

    flows: int
    packets: float = 2.0
    """Of each flow in flight at first."""
    round_trip_us: float = 100.0
    packet_bytes: int = 1500


@dataclass(frozen=True)
class Vf:
    """A receiving VF: its promise, who it belongs to, and what is sent to it."""

    min_mbps: float
    max_mbps: float
    demands: tuple[Demand, ...] = ()
    window: Window | None = None
    tenant: str | None = None
    p99_us: float | None = None
    extra_cost_us: float = 0.0
    """On top of the engine's usual cost per packet: encryption, tunnels, many rules."""

    @property
    def packet_bytes(self) -> int:
        """The size of its packets: one size per VF."""
        if self.window is not None:
            return self.window.packet_bytes
        return self.demands[0].packet_bytes if self.demands else 0

    def demand(self, at_us: float) -> Demand | None:
        """The demand in force."""
        current = None
        for demand in self.demands:
            if demand.at_ms * 1000.0 <= at_us:
                current = demand
        return current

    def times(self, factor: float) -> Vf:
        """The same VF with `factor` times the traffic."""
        demands = tuple(replace(demand, kpps=demand.kpps * factor) for demand in self.demands)
        window = self.window and replace(self.window, flows=max(1, round(self.window.flows * factor)))
        return replace(self, demands=demands, window=window)


@dataclass(frozen=True)
class Mechanisms:
    """Which parts of PicNIC are on."""

    cwfq: bool = True
    pccb: bool = True
    pccp: bool = True
    accounting: bool = True

    def words(self) -> str:
        """Their names, for titles."""
        on = [name for name in ("cwfq", "pccb", "pccp", "accounting") if getattr(self, name)]
        return " + ".join(on) or "none"


NO_MECHANISMS = Mechanisms(cwfq=False, pccb=False, pccp=False, accounting=False)


@dataclass(frozen=True)
class Control:
    """Constants of the rate limits."""

    pccb_epoch_us: float = EPOCH_US
    pccb_alpha: float = ALPHA
    pccp_epoch_us: float = EPOCH_US
    pccp: PccpParameters = STEADY
    feedback_us: float = FEEDBACK_US
    occupancy_mark: int = 32
    """PCCP starts for a VF with this many packets in its queue, or with drops there."""


@dataclass(frozen=True)
class Change:
    """A what-if: `times` the traffic of every VF of a tenant, or of one VF."""

    name: str
    times: float


@dataclass(frozen=True)
class Scenario:
    """Everything a run needs; a run is a pure function of it."""

    vfs: Mapping[str, Vf]
    mechanisms: Mechanisms = Mechanisms()
    duration_ms: float = 100.0
    warmup_ms: float = 20.0
    """Not counted in rates, drops and delays."""
    seed: int = 1
    line_gbps: float = 20.0
    engine: EngineSettings = STANDARD_ENGINE
    control: Control = Control()
    egress: EgressSettings | None = None
    what_if: tuple[Change, ...] = ()

    def changed(self) -> Scenario:
        """The scenario with every change of `what_if` applied."""
        vfs = dict(self.vfs)
        for change in self.what_if:
            vfs = {name: vf.times(change.times) if change.name in (name, vf.tenant) else vf for name, vf in vfs.items()}
        return replace(self, vfs=vfs, what_if=())
