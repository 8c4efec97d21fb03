"""Blocked egress buffers: many VFs are slow while one sends at its limit and the ingress engine is calm (PicNIC V1)."""

from __future__ import annotations

from wallwatch.domain.isolation.second import FEW_PARTS, FEW_PER_S, Breakage, Second
from wallwatch.domain.isolation.shared_delay import CERTAIN, LIKELY
from wallwatch.domain.isolation.shared_queue import fills_shared_queue
from wallwatch.domain.isolation.verdicts import Mechanism
from wallwatch.domain.isolation.vf_track import VfTrack

BACKLOG_BYTES = 64 * 1024.0
"""A backlog of a VF's queue above this is one: about 40 full packets, more than a batch of one doorbell."""

OWN_DROPS = 0.01
"""A sender whose shaper drops 1 % of its packets keeps it full."""

SELDOM = 0.3
"""At its limit in less than this part of the calm seconds: being there is then something new."""

FELL = 0.8
"""A sender whose rate is below this part of its usual one was held back."""

THROTTLED = 0.6
"""A sender below this part of its usual rate has been throttled, or has less to send."""

CUT = 0.5
"""A sender at less than this part of its usual rate and of its last calm one was cut by a limit: traffic seldom halves by itself while
what the VF receives stays."""

CLEARLY = 1.2
"""The VF whose sending fell least is named when it kept this many times the part that the next one kept."""

SURGED = 2.0
MUCH = 0.3
"""A sender has surged when it sends twice its usual rate and 30 % of everything on top: others hardly wait for less."""

STEADY = 0.005
"""A shaped rate changes by less than this from second to second: what remains is the jitter of the reading's time."""

VARYING = 0.02
"""The traffic of applications changes by more."""

STILL = 0.85
"""Others at this part of their usual rate or above are not held back yet."""

SWITCH_BUFFER_BITS = 96e6
"""A port of a switch gets at most some 12 MB of its shared buffer: 1 ms at 100 Gbit/s, 4 ms at 25 Gbit/s.

Longer delays of all VFs are those of the host's own buffers."""

FASTEST_FABRIC_US = 2_000.0
"""A fabric of faster links has several hops with buffers: up to 2 ms may be its own."""

SLOWEST_FABRIC_US = 4_000.0
"""The same where the line rate is unknown."""

MATERIAL = 0.2
"""A sender that was throttled explains much shorter delays where what it stopped sending is this part of all that is usually sent."""

WITH_A_SENDER = 0.25
"""Part of the longest delay of a fabric from which such a sender is the better explanation."""

HALF = 0.5
"""A blocked buffer stops everyone behind it: at least half of the other VFs with a measured delay are slow."""

SEVERAL = 4
"""Of so many others, more than half must be slow: guests of half of them may pause in the same second."""


def judge_egress(
    second: Second, chance: float, suspects: frozenset[str], going_on: frozenset[str], nic_bps: float | None
) -> tuple[Breakage | None, str | None]:
    """Judge an interval in which VFs are slow and the ingress engine is calm.

    Parameters
    ----------
    chance
        Probability that as many VFs are slow by themselves.
    suspects
        VFs that were named in the last interval that was not calm: they are what blocks the others while nothing speaks against it.
    going_on
        Those of the interval before: while the delays last, so does what they did.

    Returns
    -------
    tuple
        The breakage or None, and a note.
    """
    slow = second.slow
    tx_dropping = second.port_tx_drops > FEW_PER_S or second.port_tx_drops > FEW_PARTS * sum(track.tx_packets for track in second.tracks)
    if tx_dropping:
        chance *= LIKELY  # the port's own drops are a second witness
    if chance > LIKELY:
        return None, _note(slow)
    strong = [track for track in second.tracks if _strong(track, second)] or fills_shared_queue(second) or _surged(second)
    aggressors = strong or _likely_sender(second, suspects)
    others = second.delays - sum(track.p99_us is not None and track.promised for track in aggressors)
    suffering = [track for track in slow if track not in aggressors and track.promised]
    victims = [track for track in suffering if track.inside]
    enough = HALF * others
    if not victims or len(suffering) < enough or (others >= SEVERAL and len(suffering) == enough):
        return None, _note(slow)
    cut = _cut(aggressors)
    if not strong and chance > CERTAIN and not (len(slow) == second.delays and (cut or _changed(second, suspects))):
        return None, _note(slow)
    caused = bool(strong) or cut or any(track.name in going_on for track in aggressors) or _held_back(suffering)
    if not caused and not _filled(suffering, aggressors, second, nic_bps):
        return None, f"{len(slow)} VFs are slow together, and nothing that a VF sends has changed: the fabric or the host"
    reasons = {track.name: f"p99 {track.p99_us:,.0f} µs, promised {track.p99_limit_us:,.0f} µs" for track in victims}
    reasons.update((track.name, "its traffic holds the shared egress buffers") for track in aggressors)
    aggressors.sort(key=lambda track: track.tx_bytes + track.tx_dropped + track.own_tx_drops, reverse=True)
    return Breakage(Mechanism.EGRESS, victims, aggressors, reasons), None


def _changed(second: Second, suspects: frozenset[str]) -> bool:
    """Whether one sender is seen to have changed when the delays did, or was named the last time."""
    return bool(_shaped(second) or _fell_first(second)) or any(track.name in suspects for track in second.tracks)


def _filled(suffering: list[VfTrack], aggressors: list[VfTrack], second: Second, nic_bps: float | None) -> bool:
    """Whether the delay is longer than a fabric can hold; a part of that is enough when a large sender was throttled at the same time."""
    fabric_us = max(SWITCH_BUFFER_BITS / nic_bps * 1e6, FASTEST_FABRIC_US) if nic_bps else SLOWEST_FABRIC_US
    usual = sum(track.calm_tx_bytes for track in second.tracks)
    if any(_throttled_now(track) and track.calm_tx_bytes - track.tx_bytes > MATERIAL * usual for track in aggressors):
        fabric_us *= WITH_A_SENDER
    return sorted(track.p99_us or 0.0 for track in suffering)[len(suffering) // 2] > fabric_us


def _cut(aggressors: list[VfTrack]) -> bool:
    """Whether the one sender was cut when the delays began: it sends much less than usual, and than in the last calm second."""
    if len(aggressors) != 1:
        return False
    track = aggressors[0]
    return _throttled_now(track) and track.tx_bytes < CUT * min(track.calm_tx_bytes, track.last_calm_tx_bytes)


def _throttled_now(track: VfTrack) -> bool:
    """Whether a limit took much of what the VF usually sends; a job that pauses also receives less."""
    return track.calm_tx_bytes > 0 and _sends(track) < THROTTLED * _receives(track)


def _note(slow: list[VfTrack]) -> str | None:
    return f"{', '.join(track.name for track in slow)} above the promised delay with a calm engine: fabric or guest" if slow else None


def _strong(track: VfTrack, second: Second) -> bool:
    """Whether the VF fills its own queue, and does not do so all the time."""
    backlog = track.last.tx_backlog_bytes if track.last is not None else None
    if backlog is not None and backlog > BACKLOG_BYTES and 2 * backlog >= (second.tx_backlog_bytes or backlog):
        return True
    dropped = track.tx_dropped + track.own_tx_drops
    if dropped > OWN_DROPS * track.tx_packets and dropped > 3 * track.calm_tx_dropped + 1:
        return True
    if track.tx_bytes > track.max_bytes:
        return True
    return track.near_limit and track.calm_at_limit < SELDOM


def _likely_sender(second: Second, suspects: frozenset[str]) -> list[VfTrack]:
    """Who blocks the others when nobody is seen at a limit: at most one, or those that were named the last time."""
    going_on = [track for track in second.tracks if track.name in suspects]
    return _shaped(second) or going_on or _fell_first(second) or _fell_most(second) or _throttled(second) or _fell_least(second)


def _surged(second: Second) -> list[VfTrack]:
    """VFs that send several times what is usual for them, and much of all that is sent; none where the queues were measured.

    `fills_shared_queue` has judged measured queues by then: a surge that fills none of them delays nobody.
    """
    if second.tx_backlog_bytes is not None:
        return []
    all_packets = sum(track.tx_packets for track in second.tracks)
    all_bytes = sum(track.tx_bytes for track in second.tracks)
    return [
        track
        for track in second.tracks
        if track.calm_seconds
        and (
            track.tx_packets > SURGED * track.calm_tx_packets + MUCH * all_packets
            or track.tx_bytes > SURGED * track.calm_tx_bytes + MUCH * all_bytes
        )
    ]


def _shaped(second: Second) -> list[VfTrack]:
    """The one VF whose rate is the same in three intervals while those of the others vary: a shaper passes exactly its rate."""
    steady, varying = [], 0
    for track in second.tracks:
        if track.tx_bytes <= 0:
            continue
        change = max(abs(track.sent_before - track.tx_bytes), abs(track.sent_long_before - track.tx_bytes)) / track.tx_bytes
        if change < STEADY:
            steady.append(track)
        varying += change > VARYING
    return steady if len(steady) == 1 and varying >= 2 else []


def _fell_first(second: Second) -> list[VfTrack]:
    """The one VF that sends less than usual while the others still send as usual: its throttled packets fill the shared buffers."""
    ratios = sorted((track.tx_bytes / track.calm_tx_bytes, track.name, track) for track in second.tracks if track.calm_tx_bytes > 0)
    if len(ratios) < 3 or ratios[0][0] >= FELL or ratios[len(ratios) // 2][0] < STILL:
        return []
    return [ratios[0][2]]


def _fell_most(second: Second) -> list[VfTrack]:
    """The VF that was cut to half of what the next one kept, or less: a limit took more from it than waiting takes from the others."""
    ratios = sorted(
        (track.tx_bytes / track.last_calm_tx_bytes, track.name, track) for track in second.tracks if track.last_calm_tx_bytes > 0
    )
    if len(ratios) < 2 or ratios[0][0] >= CUT * ratios[1][0] or not _cut([ratios[0][2]]):
        return []
    return [ratios[0][2]]


def _fell_least(second: Second) -> list[VfTrack]:
    """The VF that kept clearly more of its rate than all others: its packets are those that fill the shared buffers."""
    ratios = sorted(
        (track.tx_bytes / track.last_calm_tx_bytes, track.name, track) for track in second.tracks if track.last_calm_tx_bytes > 0
    )
    if len(ratios) < 3 or ratios[-1][0] > FELL or ratios[-1][0] < CLEARLY * ratios[-2][0]:
        return []
    return [ratios[-1][2]]


def _throttled(second: Second) -> list[VfTrack]:
    """The only VF with a limiter of its own that sends: nobody else has packets that wait longer than the wire needs."""
    limited = [track for track in second.tracks if track.policed_bytes != float("inf") and track.tx_packets > 0]
    return limited if len(limited) == 1 else []


def _held_back(suffering: list[VfTrack]) -> bool:
    """Whether at least half of the slow VFs send less than usual, and not just because they also receive less: jobs end together."""
    return HALF * len(suffering) <= sum(map(_waits, suffering)) > 0


def _waits(track: VfTrack) -> bool:
    """Whether the VF sends clearly less than usual, and its sending fell more than its receiving."""
    return _sends(track) < FELL * _receives(track)


def _sends(track: VfTrack) -> float:
    """Part of its usual rate that the VF sends; 1 where nothing is usual."""
    return track.tx_bytes / track.calm_tx_bytes if track.calm_tx_bytes > 0 else 1.0


def _receives(track: VfTrack) -> float:
    """The same of what it receives, at most 1."""
    return min(track.rx_bytes / track.calm_rx_bytes, 1.0) if track.calm_rx_bytes > 0 else 1.0
