"""Load of the ingress engine: packets and bytes, each at its cost, refitted while the detector runs (docs/isolation.md)."""

from __future__ import annotations

from dataclasses import dataclass

PRIOR_PACKET_BYTES = 200.0
"""Cost of a packet in bytes before anything is learnt.

NICs reach their line rate from packets of some 130 to 250 bytes on (XL710, 40 Gbit/s: 160 B, PicNIC section 4)."""

PRIOR_SIGMA = 0.3
"""Weight of that guess: one overloaded second (0.06) outweighs it where it says something, and the guess decides what no second says."""

SECOND_SIGMA = 0.06
"""Scatter of the load at which the engine drops, from second to second."""

HISTORY = 64
SURE = 4
"""Full seconds after which the largest of them is what the engine can."""

CALM_POINTS = 8


@dataclass(frozen=True, slots=True)
class Costs:
    """Cost of a packet and of a byte, in parts of the engine's capacity per (packet/s) and per (byte/s)."""

    packet: float
    byte: float

    def of(self, packets: float, byte_rate: float) -> float:
        """Load of a flow of packets."""
        return packets * self.packet + byte_rate * self.byte

    @property
    def packet_bytes(self) -> float:
        """Size of packets at which packets and bytes cost the same; infinite when bytes cost nothing."""
        return self.packet / self.byte if self.byte > 0 else float("inf")


class EngineLoad:
    """Costs of an engine, learnt from the seconds in which it dropped (it was full) and from the busiest calm ones (it was not)."""

    __slots__ = ("_calm", "_full", "_prior", "_seen", "costs", "learnt", "line_rate_known", "ratios")

    def __init__(self, nic_bps: float | None) -> None:
        self._full: list[tuple[float, float]] = []
        self._calm: list[tuple[float, float]] = []
        self._seen = 0
        self.ratios = (PRIOR_PACKET_BYTES, PRIOR_PACKET_BYTES)
        """Smallest and largest plausible ratio of the costs, bytes."""
        self.learnt = False
        self.line_rate_known = nic_bps is not None
        byte = 8.0 / nic_bps / (1 + PRIOR_PACKET_BYTES / 1500) if nic_bps else 1e-12
        self._prior = Costs(byte * PRIOR_PACKET_BYTES, byte)
        self.costs = self._prior
        """Until something is learnt only the ratio of the costs means something; with `nic_bps` also a first idea of the capacity."""

    def full(self, packets: float, byte_rate: float) -> None:
        """A second in which the engine dropped: what it passed on is what it can."""
        self._full.append((packets, byte_rate))
        if len(self._full) > HISTORY:
            del self._full[0]
        self._seen += 1
        # The first seconds teach most; later ones matter only when they contradict what is known.
        if self._seen <= 8 or abs(self.costs.of(packets, byte_rate) - 1.0) > 0.03 or self._seen % 32 == 0:
            self._refit()

    def cautious_costs(self, packets: float, byte_rate: float) -> Costs:
        """Costs with capacity 1 to judge a full second with.

        The first full seconds may have been full for a part only, and then say too little of the capacity:
        until `SURE` of them are seen, the line rate suggests a larger one.
        """
        if self._seen >= SURE or not self.line_rate_known or not self.learnt:
            return self.costs
        learnt, prior = self.costs.of(packets, byte_rate), self._prior.of(packets, byte_rate)
        factor = prior / learnt if prior < learnt else 1.0
        return Costs(self.costs.packet * factor, self.costs.byte * factor)

    @property
    def sure(self) -> bool:
        """Whether enough full seconds were seen to know the capacity without drops in this one."""
        return self._seen >= SURE

    def calm(self, packets: float, byte_rate: float) -> None:
        """A second without drops: the engine can do at least this."""
        if self.costs.of(packets, byte_rate) < 0.3 and len(self._calm) >= CALM_POINTS:
            return
        for other in self._calm:
            if packets <= other[0] and byte_rate <= other[1]:
                return
        self._keep(packets, byte_rate)
        if self.learnt and self.costs.of(packets, byte_rate) > 1.05:
            self._refit()

    def _keep(self, packets: float, byte_rate: float) -> None:
        """Keep the busiest calm seconds: none that another exceeds in both packets and bytes."""
        self._calm = [other for other in self._calm if other[0] > packets or other[1] > byte_rate]
        self._calm.append((packets, byte_rate))
        if len(self._calm) > CALM_POINTS:
            self._calm.remove(min(self._calm, key=lambda point: self.costs.of(*point)))

    def _refit(self) -> None:
        """Non-negative least squares: full seconds have load 1, calm ones at most 1, and the prior settles what they leave open."""
        from wallwatch.domain.isolation.cost_fit import fit_costs, plausible_ratios

        fitted = fit_costs(self._full, self._calm, self._prior.packet_bytes, PRIOR_SIGMA / SECOND_SIGMA)
        if fitted is not None:
            self.costs = Costs(*fitted)
            self.learnt = True
            self.ratios = plausible_ratios(self._full, self._calm, self._prior.packet_bytes, SECOND_SIGMA)
