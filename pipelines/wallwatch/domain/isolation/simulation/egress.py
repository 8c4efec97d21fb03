"""The sending side of a host: shaping, packet accounting and completions (PicNIC, sections 2.1 and 5.4; figure 8b, table 4).

One engine takes packets from the guests' rings in turn. A packet of a flow with a rate limit waits in the timing wheel and holds a
descriptor of the shared pool meanwhile. Without accounting, one VF's waiting packets exhaust the pool and everyone's packets are
dropped. When a packet is completed, its guest may send another:
early (when the engine has taken it), in order (behind all earlier packets of the VF) or out of order (when it has left).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from wallwatch.domain.isolation.simulation.timing_wheel import TimingWheel


class Completions(StrEnum):
    """When the guest gets its descriptor back."""

    EARLY = "early"
    IN_ORDER = "in order"
    OUT_OF_ORDER = "out of order"


@dataclass(frozen=True)
class EgressFlow:
    """One flow of a VF. `offered_kpps` None: it always has something to send; `limit_mbps` None: not shaped."""

    vf: str
    offered_kpps: float | None = None
    packet_bytes: int = 1500
    limit_mbps: float | None = None


@dataclass(frozen=True)
class EgressSettings:
    """Buffers and costs [ours]: 1.18 us per packet is table 4's 10,145 Mbit/s, 0.38 us per drop its loss of 11% at 300,000 drops/s."""

    flows: Mapping[str, EgressFlow] = field(default_factory=dict)
    completions: Completions = Completions.OUT_OF_ORDER
    flow_limit: int | None = None
    """Packets of one flow that may be outstanding (NAPI-TX with TCP small queues); None for a guest without it."""
    descriptors: int = 8192
    wheel_cap: int = 4000
    vf_cap: int = 256
    """Accounting: packets of one VF that may wait in the wheel."""
    guest_ring: int = 16384
    packet_us: float = 1.18
    drop_us: float = 0.38
    transit_us: float = 20.0
    """From the engine until the NIC has sent a packet that does not wait."""


@dataclass
class FlowCourse:
    """One flow after the warm-up."""

    mbps: float = 0.0
    drops: int = 0
    sent: int = 0


@dataclass(frozen=True)
class EgressRun:
    """Every flow, and the most packets that waited in the wheel."""

    flows: dict[str, FlowCourse]
    wheel_occupancy: int


@dataclass
class _Flow:
    """State of a flow."""

    name: str
    spec: EgressFlow
    taken: int = 0
    outstanding: int = 0
    next_departure_us: float = 0.0


@dataclass
class _Packet:
    flow: _Flow
    shaped: bool
    done: bool = False


def simulate_egress(settings: EgressSettings, *, accounting: bool, duration_ms: float = 200.0, warmup_ms: float = 60.0) -> EgressRun:
    """Run the flows; deterministic."""
    run = _Run(settings, accounting)
    run.until(warmup_ms * 1000.0)
    before = {name: replace(course) for name, course in run.courses.items()}
    run.until(duration_ms * 1000.0)
    for name, course in run.courses.items():
        course.sent -= before[name].sent
        course.drops -= before[name].drops
        course.mbps = course.sent * settings.flows[name].packet_bytes * 8 / ((duration_ms - warmup_ms) * 1000.0)
    return EgressRun(run.courses, run.most_waiting)


class _Run:
    def __init__(self, settings: EgressSettings, accounting: bool) -> None:
        self.now = 0.0
        self.most_waiting = 0
        self.courses = {name: FlowCourse() for name in settings.flows}
        self._settings = settings
        self._accounting = accounting
        self._flows = [_Flow(name, spec) for name, spec in settings.flows.items()]
        self._rings: dict[str, deque[_Packet]] = {flow.spec.vf: deque() for flow in self._flows}
        self._held = dict.fromkeys(self._rings, 0)
        self._waiting = dict.fromkeys(self._rings, 0)
        self._wheel: TimingWheel[_Packet] = TimingWheel()
        self._transit: deque[tuple[float, _Packet]] = deque()
        self._turn = 0

    def until(self, end_us: float) -> None:
        """Work until `end_us`."""
        while self.now < end_us:
            self._finish()
            flow = self._next_flow()
            if flow is None:
                coming = [self._wheel.next_us(), *(self._transit[0][:1] if self._transit else ())]
                coming += [(one.taken + 1) * 1000.0 / one.spec.offered_kpps for one in self._flows if one.spec.offered_kpps]
                self.now = min([end_us, *(at for at in coming if at > self.now)])
            else:
                self._take(flow)

    def _next_flow(self) -> _Flow | None:
        for step in range(len(self._flows)):
            flow = self._flows[(self._turn + step) % len(self._flows)]
            if self._may_send(flow):
                self._turn = (self._turn + step + 1) % len(self._flows)
                return flow
        return None

    def _may_send(self, flow: _Flow) -> bool:
        spec, settings = flow.spec, self._settings
        if spec.offered_kpps is not None and flow.taken + 1 > self.now * spec.offered_kpps / 1000.0:
            return False
        if settings.completions is Completions.EARLY:
            return True
        if settings.flow_limit is not None and flow.outstanding >= settings.flow_limit:
            return False
        if self._accounting and spec.limit_mbps is not None and self._full(spec.vf):
            return False  # not taken, so not completed: the guest notices
        return self._held[spec.vf] < settings.guest_ring

    def _full(self, vf: str) -> bool:
        """Whether accounting admits no more packets of the VF to the wheel."""
        return self._waiting[vf] >= self._settings.vf_cap or len(self._wheel) >= self._settings.wheel_cap

    def _take(self, flow: _Flow) -> None:
        spec, settings = flow.spec, self._settings
        flow.taken += 1
        shaped = spec.limit_mbps is not None
        in_use = len(self._wheel) + len(self._transit)
        if in_use >= settings.descriptors or (shaped and self._accounting and self._full(spec.vf)):
            self.now += settings.drop_us
            self.courses[flow.name].drops += 1
            return
        self.now += settings.packet_us
        packet = _Packet(flow, shaped)
        flow.outstanding += 1
        self._held[spec.vf] += 1
        if settings.completions is Completions.IN_ORDER:
            self._rings[spec.vf].append(packet)
        if spec.limit_mbps is None:
            self._transit.append((self.now + settings.transit_us, packet))
            return
        flow.next_departure_us = max(flow.next_departure_us, self.now) + spec.packet_bytes * 8 / spec.limit_mbps
        self._wheel.add(flow.next_departure_us, packet)
        self._waiting[spec.vf] += 1
        self.most_waiting = max(self.most_waiting, len(self._wheel))

    def _finish(self) -> None:
        """Send what is due, and complete it."""
        for packet in self._wheel.release(self.now):
            self._waiting[packet.flow.spec.vf] -= 1
            self._complete(packet)
        while self._transit and self._transit[0][0] <= self.now:
            self._complete(self._transit.popleft()[1])

    def _complete(self, packet: _Packet) -> None:
        flow = packet.flow
        self.courses[flow.name].sent += 1
        packet.done = True
        if self._settings.completions is not Completions.IN_ORDER:
            flow.outstanding -= 1
            self._held[flow.spec.vf] -= 1
            return
        ring = self._rings[flow.spec.vf]
        while ring and ring[0].done:
            ring.popleft().flow.outstanding -= 1
            self._held[flow.spec.vf] -= 1
