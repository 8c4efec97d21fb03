"""Rate limits of the senders during a run: PCCB and PCCP per VF, and the time their feedback takes (PicNIC, section 5.3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from wallwatch.domain.isolation.shares.water_filling import Request, fair_shares
from wallwatch.domain.isolation.simulation.pccb import Pccb
from wallwatch.domain.isolation.simulation.pccp import Pccp
from wallwatch.domain.isolation.simulation.scenario import Scenario

UNLIMITED = float("inf")
IDLE_EPOCHS = 20
"""A VF without packets for this long is inactive; PCCP is switched off for a VF whose senders need less than its rate for this long."""
ESTIMATE_US = 192.0
"""The goodput of an overloaded VF is measured for this long before PCCP starts with it."""
UNUSED = 0.8
"""Share of PCCP's rate below which a VF does not need it."""


class Feedback:
    """A limit that reaches the senders late."""

    def __init__(self, delay_us: float) -> None:
        self._delay_us = delay_us
        self._sent: deque[tuple[float, float]] = deque()
        self._known = UNLIMITED

    def send(self, now_us: float, limit: float) -> None:
        self._sent.append((now_us + self._delay_us, limit))

    def known(self, now_us: float) -> float:
        """What the senders know now."""
        while self._sent and self._sent[0][0] <= now_us:
            self._known = self._sent.popleft()[1]
        return self._known


class BandwidthLimits:
    """PCCB for every VF of a NIC; bit/s."""

    def __init__(self, scenario: Scenario) -> None:
        self._vfs = list(scenario.vfs.values())
        self._line_mbps = scenario.line_gbps * 1000.0
        self._alpha = scenario.control.pccb_alpha
        self._controllers: list[Pccb | None] = [None] * len(self._vfs)
        self._silent = [IDLE_EPOCHS] * len(self._vfs)
        self._shares: dict[tuple[bool, ...], list[float]] = {}
        self.feedback = [Feedback(scenario.control.feedback_us) for _ in self._vfs]

    def shares_mbps(self, active: Sequence[bool]) -> list[float]:
        """The exact shares for this set of active VFs; there are few such sets, so they are kept."""
        key = tuple(active)
        if key not in self._shares:
            requests = [Request(vf.min_mbps, vf.max_mbps, on) for vf, on in zip(self._vfs, key, strict=True)]
            self._shares[key] = [float(share) for share in fair_shares(self._line_mbps, requests)]
        return self._shares[key]

    def epoch(self, now_us: float, received_mbps: Sequence[float], senders: Sequence[int]) -> None:
        """One epoch of what each VF received; sends the limits for all senders of a VF together."""
        self._silent = [0 if rate > 0 else min(silent + 1, IDLE_EPOCHS) for rate, silent in zip(received_mbps, self._silent, strict=True)]
        shares = self.shares_mbps([silent < IDLE_EPOCHS for silent in self._silent])
        for vf, (rate, share) in enumerate(zip(received_mbps, shares, strict=True)):
            if self._silent[vf] == IDLE_EPOCHS or share <= 0:
                self._controllers[vf] = None
                continue
            controller = self._controllers[vf]
            if controller is None:
                controller = self._controllers[vf] = Pccb(share, self._line_mbps, self._alpha)
            self.feedback[vf].send(now_us, max(senders[vf], 1) * controller.step(rate, share))


class PacketLimits:
    """PCCP of one VF: off until its own queue fills."""

    def __init__(self, scenario: Scenario) -> None:
        self._control = scenario.control
        self._controller: Pccp | None = None
        self._unused = 0
        self._overloaded_since: tuple[float, int] | None = None
        self._first_epoch_after = 0.0  # delays of packets that were queued before the first limit say nothing about it
        self.feedback = Feedback(scenario.control.feedback_us)

    @property
    def active(self) -> bool:
        return self._controller is not None

    def check(self, now_us: float, occupancy: int, dropped: bool, processed: int, senders: int) -> None:
        """Activate it when the queue stays full or drops; the first rate per sender is the goodput meanwhile, divided by the senders."""
        if self._controller is not None:
            return
        if not (dropped or occupancy > self._control.occupancy_mark):
            self._overloaded_since = None
        elif self._overloaded_since is None:
            self._overloaded_since = (now_us, processed)
        elif now_us - self._overloaded_since[0] >= ESTIMATE_US:
            goodput_pps = (processed - self._overloaded_since[1]) * 1e6 / (now_us - self._overloaded_since[0])
            if goodput_pps > 0:
                self._controller = Pccp(goodput_pps / max(senders, 1), self._control.pccp)
                self._first_epoch_after = now_us + self._control.pccp_epoch_us + self._control.feedback_us
                self.feedback.send(now_us, goodput_pps)

    def epoch(self, now_us: float, delay_us: float | None, received_pps: float, senders: int) -> None:
        """One epoch: without a packet, without a new delay, the rate stays."""
        if self._controller is None or delay_us is None or now_us < self._first_epoch_after:
            return
        rate = self._controller.step(delay_us) * max(senders, 1)
        self._unused = self._unused + 1 if received_pps < UNUSED * rate else 0
        if self._unused >= IDLE_EPOCHS:
            self._controller, self._overloaded_since, self._unused = None, None, 0
            rate = UNLIMITED
        self.feedback.send(now_us, rate)
