"""Who fills an egress queue that several VFs share, such as the uplink's: those that would have to send less first."""

from __future__ import annotations

from wallwatch.domain.isolation.engine_shares import water_level
from wallwatch.domain.isolation.second import Second
from wallwatch.domain.isolation.vf_track import VfTrack

FULL_BYTES = 64 * 1024.0
"""A shared backlog above this holds the packets of others up: about 40 full packets."""

TENTH_LESS = 0.9
"""The queue's rate is not measured. It is below what the VFs send, or the queue would not be full: they are asked to send a tenth less."""

ABOVE = 1.05
"""A VF up to 5 % above its share of that is still well-behaved, as at the ingress engine."""


def fills_shared_queue(second: Second) -> list[VfTrack]:
    """VFs that send more than their weighted max-min share while a queue that no single VF owns is full.

    Empty without such a queue, and where all VFs send alike: then nobody is to blame more than others.
    """
    backlog = second.tx_backlog_bytes
    if backlog is None or backlog <= FULL_BYTES:
        return []
    own = sum(track.last.tx_backlog_bytes or 0.0 for track in second.tracks if track.last is not None)
    if 2 * own >= backlog:
        return []
    offered = [track.tx_bytes + track.tx_dropped * _packet_bytes(track) for track in second.tracks]
    level = water_level(TENTH_LESS * sum(offered), offered, [track.weight for track in second.tracks])
    above = [track for track, rate in zip(second.tracks, offered, strict=True) if rate > ABOVE * level * track.weight]
    return above if len(above) < len(second.tracks) else []


def _packet_bytes(track: VfTrack) -> float:
    return track.tx_bytes / track.tx_packets if track.tx_packets > 0 else 0.0
