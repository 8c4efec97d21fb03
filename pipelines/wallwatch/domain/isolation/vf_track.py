"""One VF as the detector follows it: its last counters, the rates of this interval, and what is usual for it in calm seconds."""

from __future__ import annotations

from wallwatch.domain.isolation.counters import Limits, Outcome, careful_changes
from wallwatch.domain.isolation.readings import VfCounters
from wallwatch.domain.isolation.slo import Slo

AT_LIMITER = 0.85
"""A VF at this part of its policed rate is at its limiter: a token bucket passes a little less than its rate, never much more."""

INSIDE = 1.05
"""A VF inside its envelope: 5 % above MAX are rounding, headers that the driver counts and jitter of the reading's time."""

DEFAULT_LOSS = 0.001
"""Loss above which a VF without a promised loss suffers in an overload: the specification's bound for "few drops"."""

CALM_WEIGHT = 0.1
"""Weight of a calm second in the usual values: they follow a change of the traffic within some 10 seconds."""


class VfTrack:
    """State of one VF; the rates hold for the last interval and only when `known`."""

    __slots__ = (
        "active",
        "at_limiter",
        "calm_at_limit",
        "calm_p99_us",
        "calm_rx_bytes",
        "calm_rx_packets",
        "calm_seconds",
        "calm_tx_bytes",
        "calm_tx_dropped",
        "calm_tx_packets",
        "inside",
        "known",
        "last",
        "last_calm_tx_bytes",
        "loss_limit",
        "max_bytes",
        "min_bytes",
        "name",
        "narrow",
        "outcome",
        "own_rx_drops",
        "own_tx_drops",
        "p50_us",
        "p99_limit_us",
        "p99_us",
        "policed_bytes",
        "promised",
        "rx_bytes",
        "rx_dropped",
        "rx_packets",
        "sent_before",
        "sent_long_before",
        "slow",
        "t",
        "tx_bytes",
        "tx_dropped",
        "tx_known",
        "tx_packets",
        "weight",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.last: VfCounters | None = None
        self.t = 0.0
        self.outcome = Outcome.MISSING
        self.narrow = False
        self.known = self.active = self.inside = self.slow = self.at_limiter = self.tx_known = False
        self.rx_bytes = self.rx_packets = self.rx_dropped = 0.0
        """Per second, received; drops without those of the VF's own limiter."""
        self.tx_bytes = self.tx_packets = self.tx_dropped = 0.0
        self.sent_before = self.sent_long_before = 0.0
        """Sent bytes per second in the interval before, and in the one before that."""
        self.own_rx_drops = self.own_tx_drops = 0.0
        """Drops of the VF's own limiter per second."""
        self.p50_us: float | None = None
        self.p99_us: float | None = None
        self.calm_seconds = 0
        self.calm_rx_bytes = self.calm_rx_packets = self.last_calm_tx_bytes = 0.0
        self.calm_tx_bytes = self.calm_tx_packets = self.calm_tx_dropped = self.calm_p99_us = self.calm_at_limit = 0.0
        self.promise(None, 1.0)

    def promise(self, slo: Slo | None, weight: float) -> None:
        """Set what is promised; `weight` (bit/s) is MAX, or what stands in its place for a VF without a promise."""
        self.promised = slo is not None
        self.weight = weight
        self.max_bytes = slo.max_bps / 8 * INSIDE if slo else float("inf")
        self.min_bytes = slo.min_bps / 8 if slo else 0.0
        self.p99_limit_us = slo.p99_us if slo and slo.p99_us is not None else float("inf")
        self.loss_limit = slo.loss if slo and slo.loss is not None else DEFAULT_LOSS
        self.policed_bytes = slo.policed_bps / 8 * AT_LIMITER if slo and slo.policed_bps else float("inf")

    def forget(self) -> None:
        """No reading of this VF in this interval."""
        self.known = self.active = self.slow = self.inside = self.at_limiter = False
        self.p50_us = self.p99_us = None
        self.outcome = Outcome.MISSING

    def update(self, new: VfCounters, t: float, limits: Limits) -> Outcome:
        """Take a new reading; the rates are known only when the outcome is good or a wrap."""
        old, span = self.last, t - self.t
        self.last, self.t = new, t
        p99 = new.delay_p99_us
        self.p50_us, self.p99_us = new.delay_p50_us, p99
        if old is None or span <= 0.0:
            return self._lost(Outcome.MISSING)
        if old.generation != new.generation:
            return self._lost(Outcome.RESET)
        # One text for each VF, not one for each message. It isn't interned: texts that come and go would stay, up to Python 3.12.6.
        new.generation = old.generation
        try:
            rx_bytes = new.rx_bytes - old.rx_bytes  # type: ignore[operator]  # a missing counter is caught below: the rule, not the case
            rx_packets = new.rx_packets - old.rx_packets  # type: ignore[operator]
            rx_dropped = new.rx_dropped - old.rx_dropped  # type: ignore[operator]
            tx_bytes = new.tx_bytes - old.tx_bytes  # type: ignore[operator]
            tx_packets = new.tx_packets - old.tx_packets  # type: ignore[operator]
            tx_dropped = new.tx_dropped - old.tx_dropped  # type: ignore[operator]
            down = (rx_bytes | rx_packets | rx_dropped | tx_bytes | tx_packets | tx_dropped) < 0
        except TypeError:
            down = True
        most = limits.bytes_per_s * span
        if down or self.narrow or rx_bytes > most or tx_bytes > most or rx_packets + rx_dropped > most or tx_packets + tx_dropped > most:
            return self._carefully(old, new, span, limits)
        self.outcome = Outcome.GOOD
        self.known = self.tx_known = True
        self.sent_long_before, self.sent_before = self.sent_before, self.tx_bytes
        self.rx_bytes = rx_bytes / span
        self.rx_packets = rx_packets / span
        self.rx_dropped = rx_dropped / span
        self.tx_bytes = tx_bytes / span
        self.tx_packets = tx_packets / span
        self.tx_dropped = tx_dropped / span
        self.active = rx_packets + tx_packets + rx_dropped + tx_dropped > 0
        self.slow = p99 is not None and p99 > self.p99_limit_us
        if self.rx_dropped or self.tx_dropped:
            self._own_limiter(old, new, span)
        else:
            self.own_rx_drops = self.own_tx_drops = 0.0
            self.at_limiter = self.rx_bytes >= self.policed_bytes or self.tx_bytes >= self.policed_bytes
        self.inside = self.rx_bytes <= self.max_bytes and self.tx_bytes <= self.max_bytes and not self.at_limiter
        return Outcome.GOOD

    def _carefully(self, old: VfCounters, new: VfCounters, span: float, limits: Limits) -> Outcome:
        """Rates where a counter is missing, went down, or seems to have grown impossibly."""
        outcome, increases = careful_changes(old, new, span, limits, self.narrow)
        if increases[0] is None or increases[1] is None:
            return self._lost(outcome)
        if outcome is Outcome.WRAPPED:
            self.narrow = self.narrow or max(old.rx_bytes or 0, old.tx_bytes or 0) < 1 << 32
        self.outcome, self.known = outcome, True
        self.sent_long_before, self.sent_before = self.sent_before, self.tx_bytes
        values = [(increase or 0) / span for increase in increases]
        self.rx_bytes, self.rx_packets, self.rx_dropped, self.tx_bytes, self.tx_packets, self.tx_dropped = values
        self.tx_known = increases[3] is not None and increases[4] is not None
        self.active = self.rx_packets + self.tx_packets + self.rx_dropped + self.tx_dropped > 0
        self.slow = self.p99_us is not None and self.p99_us > self.p99_limit_us
        self._own_limiter(old, new, span)
        self.inside = self.rx_bytes <= self.max_bytes and self.tx_bytes <= self.max_bytes and not self.at_limiter
        return outcome

    def _own_limiter(self, old: VfCounters, new: VfCounters, span: float) -> None:
        """Take the drops of the VF's own limiter out of its drops: they are what was agreed, and no breakage."""
        self.own_rx_drops = self.own_tx_drops = 0.0
        rx_limited = self.rx_bytes >= self.policed_bytes
        tx_limited = self.tx_bytes >= self.policed_bytes
        self.at_limiter = rx_limited or tx_limited
        if rx_limited:
            self.own_rx_drops, self.rx_dropped = self.rx_dropped, 0.0
        if tx_limited:
            self.own_tx_drops, self.tx_dropped = self.tx_dropped, 0.0
        if new.policed_drops is not None and old.policed_drops is not None and new.policed_drops > old.policed_drops:
            policed = (new.policed_drops - old.policed_drops) / span
            self.at_limiter = True
            own = min(policed, self.tx_dropped)
            self.tx_dropped -= own
            self.own_tx_drops += own

    def _lost(self, outcome: Outcome) -> Outcome:
        """No rates in this interval."""
        self.known = self.active = self.slow = self.inside = self.at_limiter = False
        self.outcome = outcome
        return outcome

    def learn(self) -> None:
        """Move the usual values towards those of this calm second."""
        self.calm_seconds += 1
        weight = CALM_WEIGHT if self.calm_seconds > 10 else 1.0 / self.calm_seconds
        self.calm_rx_bytes += weight * (self.rx_bytes - self.calm_rx_bytes)
        self.calm_rx_packets += weight * (self.rx_packets - self.calm_rx_packets)
        self.last_calm_tx_bytes = self.tx_bytes
        self.calm_tx_bytes += weight * (self.tx_bytes - self.calm_tx_bytes)
        self.calm_tx_packets += weight * (self.tx_packets - self.calm_tx_packets)
        self.calm_tx_dropped += weight * (self.tx_dropped + self.own_tx_drops - self.calm_tx_dropped)
        if self.p99_us is not None:
            self.calm_p99_us += weight * (self.p99_us - self.calm_p99_us)
        self.calm_at_limit += weight * (self.near_limit - self.calm_at_limit)

    @property
    def near_limit(self) -> bool:
        """Whether the VF sends at its limit: its envelope, the limit that is set, or its policed rate."""
        limit = self.max_bytes * (0.9 / INSIDE)
        set_limit = self.last.max_tx_bps if self.last is not None else None
        if set_limit:
            limit = min(limit, set_limit * (0.9 / 8))
        return self.tx_bytes >= limit or self.tx_bytes >= self.policed_bytes

    @property
    def loss(self) -> float:
        """Lost fraction of what was meant for the VF to receive."""
        offered = self.rx_packets + self.rx_dropped
        return self.rx_dropped / offered if offered > 0 else 0.0
