"""The streaming detector of one RNIC: a reading in, a verdict on the interval since the last one out. It never looks ahead."""

from __future__ import annotations

from collections.abc import Mapping

from wallwatch.domain.isolation.counters import Limits, Outcome, careful_changes
from wallwatch.domain.isolation.egress import judge_egress
from wallwatch.domain.isolation.engine_load import EngineLoad
from wallwatch.domain.isolation.ingress import Shares, judge_ingress, judge_pressure
from wallwatch.domain.isolation.pressure import Pressure
from wallwatch.domain.isolation.reading_order import Order, ReadingOrder
from wallwatch.domain.isolation.readings import Counters, Reading
from wallwatch.domain.isolation.second import FEW_PER_S, Breakage, Second, engine_drops
from wallwatch.domain.isolation.shared_delay import LIKELY, BlipRate
from wallwatch.domain.isolation.slo import Slo
from wallwatch.domain.isolation.verdicts import Verdict
from wallwatch.domain.isolation.vf_track import VfTrack
from wallwatch.domain.isolation.vf_verdicts import vf_verdicts

OPEN_INTERVALS = 3
"""So many intervals in which VFs are slow together teach nothing of what is usual: what happened shows in the second of them."""

LONGEST_SECOND = 1.5
"""Seconds: a longer interval is estimated, because the second within it in which something happened is unknown."""


class Detector:
    """Follow one RNIC.

    Parameters
    ----------
    slos
        VF -> its promise. A VF without one is watched (it may be an aggressor), and nothing is promised to it.
    nic_bps
        Line rate of the RNIC, bit/s; None where unknown.

    >>> from wallwatch.domain.isolation.readings import Counters, Reading, VfCounters
    >>> detector = Detector({"vf0": Slo(1e9, 5e9)}, 25e9)
    >>> detector.step(Reading(0.0, Counters(0, 0, 0, 0, 0, 0), {"vf0": VfCounters(0, 0, 0, 0, 0, 0)})) is None
    True
    >>> verdict = detector.step(Reading(1.0, Counters(9000, 9, 0, 0, 0, 0), {"vf0": VfCounters(9000, 9, 0, 0, 0, 0)}))
    >>> verdict.vfs["vf0"].state, verdict.vfs["vf0"].rx_bps
    (<State.KEPT: 'kept'>, 72000.0)
    """

    __slots__ = (
        "_blips",
        "_calm_seconds",
        "_engine",
        "_going_on",
        "_limits",
        "_nic_bps",
        "_open",
        "_order",
        "_port",
        "_port_t",
        "_pressure",
        "_slos",
        "_suspects",
        "_tracks",
        "counts",
    )

    def __init__(self, slos: Mapping[str, Slo], nic_bps: float | None) -> None:
        self.counts: dict[str, int] = dict.fromkeys(
            ("readings", "duplicates", "late", "clock_steps", "gaps", "resets", "wraps", "impossible", "missing"), 0
        )
        """What was met in the readings; `gaps` counts intervals longer than 1.5 s, `resets`, `wraps` and `impossible` entities."""
        self._tracks: dict[str, VfTrack] = {}
        self._port: Counters | None = None
        self._port_t = 0.0
        self._pressure = Pressure()
        self._calm_seconds = 0
        self._open = 0
        """Intervals in a row in which VFs were slow together and nobody was named."""
        self._going_on: frozenset[str] = frozenset()
        """Aggressors of the interval before: an overload of the engine is over with its interval."""
        self._suspects: frozenset[str] = frozenset()
        """Aggressors of the last interval that was not calm. Calm ones between do not change them: a sender that fills its queue again and
        again lets the others through in between, and nothing that is measured names it each time."""
        self._blips = BlipRate()
        self._order = ReadingOrder()
        self._engine = EngineLoad(nic_bps)
        self._nic_bps = nic_bps
        self.promise(slos, nic_bps)

    def promise(self, slos: Mapping[str, Slo], nic_bps: float | None) -> None:
        """Replace the promises while the detector runs; what it has learnt of the VFs stays, and of the engine while the speed does."""
        if nic_bps != self._nic_bps:
            self._engine = EngineLoad(nic_bps)
        self._slos, self._nic_bps = dict(slos), nic_bps
        self._limits = Limits(nic_bps)
        for track in self._tracks.values():
            self._promise(track)

    def _promise(self, track: VfTrack) -> None:
        """A VF without a promise weighs as much as the mean of those with one: no better and no worse a right to the engine."""
        slo = self._slos.get(track.name)
        if slo is not None:
            weight = slo.max_bps
        elif self._slos:
            weight = sum(one.max_bps for one in self._slos.values()) / len(self._slos)
        else:
            weight = 1.0
        track.promise(slo, weight)

    @staticmethod
    def missing_seconds(t_from: float, t_to: float) -> list[float]:
        """Seconds between two readings that no reading ends; the caller reports them as unknown.

        >>> Detector.missing_seconds(100.0, 104.0)
        [101.0, 102.0, 103.0]
        """
        count = round(t_to - t_from) - 1
        return [t_to - back for back in range(count, 0, -1)]

    def step(self, reading: Reading) -> Verdict | None:
        """Judge the interval that this reading ends.

        Returns
        -------
        Verdict or None
            None for the first reading, a duplicate, a late reading, and the first one after a step of the clock; see `counts`.
        """
        counts = self.counts
        counts["readings"] += 1
        order = self._order.place(reading)
        if order is not Order.NEXT:
            if order is not Order.FIRST:
                counts[order.value] += 1
                return None
            self._rebase(reading)
            return None
        if self._order.stepped is not None:
            self._rebase(self._order.stepped)
        t = reading.t
        interval = t - self._order.previous_t
        estimated = interval > LONGEST_SECOND
        counts["gaps"] += estimated
        second, own_drops = self._second(reading, estimated)
        port_drops, second.port_tx_drops = self._port_rates(reading)
        engine_drops(second, port_drops, own_drops)
        self._pressure.update(reading.extras, t)
        if reading.extras is not None:
            second.tx_backlog_bytes = reading.extras.tx_backlog_bytes
        breakage, shares, notes = self._judge(second)
        if breakage is not None:
            self._open = 0
        elif not 0 < self._open <= OPEN_INTERVALS:
            self._learn(second)
        costs = self._engine.costs
        offered = shares.offered if shares is not None else [costs.of(track.rx_packets, track.rx_bytes) for track in second.tracks]
        known = port_drops is not None or bool(second.tracks)
        known = known and 2 * sum(track.outcome is Outcome.RESET for track in self._tracks.values()) <= len(self._tracks)
        return Verdict(
            t,
            interval,
            estimated,
            breakage.mechanism if breakage else None,
            tuple(track.name for track in breakage.victims) if breakage else (),
            tuple(track.name for track in breakage.aggressors) if breakage else (),
            vf_verdicts(self._tracks.values(), second, offered, shares, breakage),
            self._load(offered, shares),
            second.port_drops,
            second.drops > FEW_PER_S,
            known,
            notes,
        )

    def _second(self, reading: Reading, estimated: bool) -> tuple[Second, float]:
        """Update all VFs; sums over those with traffic, and the drops of their own limiters."""
        t, limits, tracks, counts = reading.t, self._limits, self._tracks, self.counts
        active: list[VfTrack] = []
        slow: list[VfTrack] = []
        packets = byte_rate = drops = own = 0.0
        delays = 0
        for name, new in reading.vfs.items():
            track = tracks.get(name)
            if track is None:
                track = tracks[name] = VfTrack(name)
                self._promise(track)
            outcome = track.update(new, t, limits)
            if outcome is not Outcome.GOOD:
                counts[outcome.value] += 1
            if track.active:
                active.append(track)
                packets += track.rx_packets
                byte_rate += track.rx_bytes
                drops += track.rx_dropped
                own += track.own_rx_drops
                if track.promised and track.p99_us is not None:
                    delays += 1
                    if track.slow:
                        slow.append(track)
        if len(reading.vfs) < len(tracks):
            for name, track in tracks.items():
                if name not in reading.vfs:
                    track.forget()
                    counts["missing"] += 1
        return Second(active, packets, byte_rate, drops, slow, delays, estimated), own

    def _port_rates(self, reading: Reading) -> tuple[float | None, float]:
        """Receive and transmit drops of the port per second; None where unknown."""
        new, old, span = reading.port, self._port, reading.t - self._port_t
        if new is None:
            return None, 0.0  # the next difference is over both intervals
        self._port, self._port_t = new, reading.t
        if old is None or span <= 0:
            return None, 0.0
        rx, tx = old.rx_dropped, old.tx_dropped
        if rx is not None and new.rx_dropped is not None and (new.rx_bytes or 0) >= (old.rx_bytes or 0):
            rx = new.rx_dropped - rx
            tx = new.tx_dropped - tx if new.tx_dropped is not None and tx is not None else 0
            if 0 <= rx <= self._limits.packets_per_s * span and tx >= 0:
                return rx / span, tx / span
        outcome, increases = careful_changes(old, new, span, self._limits, narrow=False)
        if outcome not in (Outcome.GOOD, Outcome.MISSING):
            self.counts[outcome.value] += 1
        rx, tx = increases[2], increases[5]
        return (None if rx is None else rx / span), (tx or 0) / span

    def _judge(self, second: Second) -> tuple[Breakage | None, Shares | None, tuple[str, ...]]:
        """Pressure of PCIe and CPU first (they also make the NIC drop), then the ingress engine, then egress."""
        second.drops = max(second.drops, self._pressure.cpu_drops)
        going_on, self._going_on = self._going_on, frozenset()
        slow = len(second.slow)
        if slow < 2 and not second.drops:
            self._open = 0
            return None, None, _alone(second)
        chance = self._blips.chance(slow, second.delays)
        shared = chance <= LIKELY
        self._open = self._open + 1 if shared and slow > 1 else 0
        mechanism = self._pressure.mechanism
        if mechanism is not None:
            breakage, shares = judge_pressure(second, mechanism, shared)
            if breakage is not None:
                return breakage, shares, ()
        breakage, shares, note = judge_ingress(second, self._engine, shared, self._calm_seconds, going_on)
        if breakage is None and slow and not second.dropping:
            breakage, note = judge_egress(second, chance, self._suspects, going_on, self._nic_bps)
        self._going_on = self._suspects = frozenset(track.name for track in breakage.aggressors) if breakage else frozenset()
        return breakage, shares, (note,) if note else ()

    def _learn(self, second: Second) -> None:
        """Take a calm second as usual."""
        if second.dropping:
            return
        self._calm_seconds += 1
        self._blips.learn(len(second.slow), second.delays)
        self._pressure.learn()
        self._engine.calm(second.packets, second.bytes)
        for track in self._tracks.values():
            if track.known:
                track.learn()

    def _load(self, offered: list[float], shares: Shares | None) -> float | None:
        if shares is not None and shares.capacity > 0:
            return shares.total / shares.capacity
        return sum(offered) if self._engine.learnt or self._nic_bps else None

    def _rebase(self, reading: Reading) -> None:
        """Start again from a reading without judging: the first one, and one after a step of the clock."""
        for name, new in reading.vfs.items():
            track = self._tracks.get(name)
            if track is None:
                track = self._tracks[name] = VfTrack(name)
                self._promise(track)
            track.last, track.t = new, reading.t
        if reading.port is not None:
            self._port, self._port_t = reading.port, reading.t
        self._pressure.update(reading.extras, reading.t)


def _alone(second: Second) -> tuple[str, ...]:
    return tuple(f"{track.name} alone is above its promised delay: fabric or guest" for track in second.slow)
