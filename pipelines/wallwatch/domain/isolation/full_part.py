"""The part of an interval in which the engine was full, and what each VF offered in that part.

A storm rarely begins with the second: the engine is full for a part of it, and calm for the rest. Rates over the whole second then
look as if everybody had asked for too much, because the engine "passed on" less than it can. With the VFs' usual rates in the calm
part, the rates of the full part follow.
"""

from __future__ import annotations

from dataclasses import dataclass

from wallwatch.domain.isolation.engine_load import Costs
from wallwatch.domain.isolation.second import Second
from wallwatch.domain.isolation.vf_track import VfTrack

WHOLE = 0.95
"""An engine that was full for this part of the interval was full all the time: the difference is noise."""

SHORTEST_PART = 0.05
"""Below a twentieth of the interval the noise of the usual rates says more than the rates of the full part: they are not split off."""

UNEVEN = 1.25
"""Losses that differ more than this from the mean say that the engine was full for a part of the interval only."""

NOTICEABLE = 0.01
"""Part of all drops below which the loss of a VF is one of a few packets."""

GROWN = 0.5
"""Growth above the usual rate, in parts of the rate, whose packets have a size of their own."""

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
    if second.vf_drops >= COUNTED * second.drops > 0:
        worst = _worst_loss(second)
        if worst > UNEVEN * second.loss:
            return _by_drops(second, part, own, worst)
    return FullPart(part, packets, byte_rates, _attributed(packets, own, second.drops / part))


def _worst_loss(second: Second) -> float:
    """Largest lost fraction among the VFs with a noticeable part of all drops."""
    return max((track.loss for track in second.tracks if track.rx_dropped > NOTICEABLE * second.vf_drops), default=0.0)


def _by_drops(second: Second, part: float, own: list[float], loss: float) -> FullPart:
    """The full part from the VFs' own drops: while a shared queue is full it drops the same fraction for all.

    Losses over the whole interval differ because the calm part differs: who receives only in the full part shows its loss.
    """
    packets = [dropped * (1.0 - loss) / loss for dropped in own]
    byte_rates = [rate * _size_of_growth(track) for rate, track in zip(packets, second.tracks, strict=True)]
    return FullPart(part, packets, byte_rates, own)


def _size_of_growth(track: VfTrack) -> float:
    """Mean size of what a VF receives in addition to its usual traffic, when that is most of it; else of all it receives."""
    packets, byte_rate = track.rx_packets - track.calm_rx_packets, track.rx_bytes - track.calm_rx_bytes
    if packets > GROWN * track.rx_packets and byte_rate > 0:
        return byte_rate / packets
    return track.rx_bytes / track.rx_packets if track.rx_packets > 0 else SMALL_PACKET


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
