"""The part of an interval in which the engine was full, and what each VF offered in that part.

A storm rarely begins with the second: the engine is full for a part of it, and calm for the rest. Rates over the whole second then
look as if everybody had asked for too much, because the engine "passed on" less than it can. With the VFs' usual rates in the calm
part, the rates of the full part follow.
"""

from __future__ import annotations

from dataclasses import dataclass

from wallwatch.domain.isolation.engine_load import Costs
from wallwatch.domain.isolation.second import Second

WHOLE = 0.95
"""An engine that was full for this part of the interval was full all the time: the difference is noise."""

SHORTEST_PART = 0.05
"""Below a twentieth of the interval the noise of the usual rates says more than the rates of the full part: they are not split off."""

SHORT = 0.5
"""A full part below this is short: the noise of the usual rates weighs more than that of counted drops."""

COUNTED = 0.9
"""The VFs count this part of the engine's drops themselves: then they count all but errors of reading at different instants."""

SMALL_PACKET = 64.0
"""Bytes assumed for the packets of a VF that lost all of them."""


@dataclass(slots=True)
class FullPart:
    """Rates of each VF in the full part, aligned with the tracks of the second; per second."""

    part: float
    """Fraction of the interval, up to 1."""
    packets: list[float]
    bytes: list[float]
    dropped: list[float]
    """Own and attributed drops."""

    def offered(self, costs: Costs) -> list[float]:
        """Received, own and attributed drops, each times its cost, per VF."""
        loads = []
        for packets, byte_rate, dropped in zip(self.packets, self.bytes, self.dropped, strict=True):
            size = byte_rate / packets if packets > 0 else SMALL_PACKET
            loads.append(costs.of(packets + dropped, byte_rate + dropped * size))
        return loads

    def passed(self, costs: Costs) -> float:
        """Load that the engine passed on."""
        return costs.of(sum(self.packets), sum(self.bytes))


def usual_load(second: Second, costs: Costs) -> float:
    """Load of the usual rates of the VFs that are active in this interval."""
    return costs.of(sum(track.calm_rx_packets for track in second.tracks), sum(track.calm_rx_bytes for track in second.tracks))


def full_part(second: Second, costs: Costs, calm_seconds: int) -> FullPart:
    """Split an interval in which the engine was full at some time, given costs with capacity 1.

    Parameters
    ----------
    calm_seconds
        Calm seconds behind the usual rates; without any, the engine is taken as full all the time.
    """
    usual = usual_load(second, costs)
    passed = costs.of(second.packets, second.bytes)
    part = 1.0
    if calm_seconds and usual < 1.0 and passed < WHOLE:
        part = (passed - usual) / (1.0 - usual)
    rest = 1.0 - part if SHORTEST_PART <= part < WHOLE else 0.0
    if rest:
        packets = [max((track.rx_packets - rest * track.calm_rx_packets) / part, 0.0) for track in second.tracks]
        byte_rates = [max((track.rx_bytes - rest * track.calm_rx_bytes) / part, 0.0) for track in second.tracks]
    else:
        part = 1.0
        packets = [track.rx_packets for track in second.tracks]
        byte_rates = [track.rx_bytes for track in second.tracks]
    own = [track.rx_dropped / part for track in second.tracks]
    if part < SHORT and second.vf_drops >= COUNTED * second.drops > 0:
        _by_drops(second, packets, byte_rates, own)
    return FullPart(part, packets, byte_rates, _attributed(packets, own, second.drops / part))


def _by_drops(second: Second, packets: list[float], byte_rates: list[float], own: list[float]) -> None:
    """In a short full part the VFs' own drops say better who filled the queue than the difference of rates: it drops all alike."""
    factor = sum(packets) / sum(own)
    for position, track in enumerate(second.tracks):
        packets[position] = own[position] * factor
        byte_rates[position] = packets[position] * (track.rx_bytes / track.rx_packets if track.rx_packets > 0 else SMALL_PACKET)


def _attributed(packets: list[float], own: list[float], drops: float) -> list[float]:
    """Own and attributed drops per second of each VF.

    A shared queue drops the same part of what arrives for each VF. What a VF counts less than that part is attributed to it,
    as far as the port has drops that no VF counts.
    """
    unexplained = drops - sum(own)
    received = sum(packets)
    if unexplained <= 0 or received <= 0:
        return own
    lost = drops / received
    short = [max(0.0, rate * lost - counted) for rate, counted in zip(packets, own, strict=True)]
    factor = unexplained / (sum(short) or 1.0)
    return [counted + factor * less for counted, less in zip(own, short, strict=True)]
