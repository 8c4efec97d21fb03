"""The state of each VF in an interval, with the reason."""

from __future__ import annotations

from collections.abc import Iterable

from wallwatch.domain.isolation.counters import Outcome
from wallwatch.domain.isolation.ingress import Shares
from wallwatch.domain.isolation.second import Breakage, Second
from wallwatch.domain.isolation.verdicts import State, VfVerdict
from wallwatch.domain.isolation.vf_track import VfTrack

_UNKNOWN = {
    Outcome.RESET: "counters started again",
    Outcome.IMPOSSIBLE: "impossible counters",
    Outcome.MISSING: "not in the reading",
}


def vf_verdicts(
    tracks: Iterable[VfTrack], second: Second, offered: list[float], shares: Shares | None, breakage: Breakage | None
) -> dict[str, VfVerdict]:
    """VF -> verdict, for every VF that was ever read.

    Parameters
    ----------
    offered
        Offered shares, aligned with `second.tracks`.
    shares
        Of an interval that was judged; None in a calm one, where the fair share is the VF's part by weight.
    """
    reasons = breakage.reasons if breakage is not None else {}
    victims = {track.name for track in breakage.victims} if breakage is not None else ()
    capacity = shares.capacity if shares is not None and shares.capacity > 0 else 1.0
    weights = 0.0
    for track in second.tracks:
        weights += track.weight
    level = shares.level / capacity if shares is not None and shares.level != float("inf") else (1.0 / weights if weights else 0.0)
    share_of = {track.name: load / capacity for track, load in zip(second.tracks, offered, strict=True)}
    found: dict[str, VfVerdict] = {}
    for track in tracks:
        name = track.name
        if not track.known:
            found[name] = VfVerdict(
                name, State.UNKNOWN, _UNKNOWN.get(track.outcome, "unknown"), None, None, None, None, None, None, None, None, None
            )
            continue
        state, reason = _state(track, name in victims, reasons.get(name, ""))
        tx = track.tx_known
        found[name] = VfVerdict(
            name,
            state,
            reason,
            share_of.get(name),
            level * track.weight,
            track.rx_bytes * 8.0,
            track.tx_bytes * 8.0 if tx else None,
            track.rx_packets,
            track.tx_packets if tx else None,
            track.rx_dropped + track.tx_dropped,
            track.p50_us,
            track.p99_us,
        )
    return found


def _state(track: VfTrack, victim: bool, reason: str) -> tuple[State, str]:
    if not track.promised:
        return State.NOT_PROMISED, reason or "no promise"
    if not track.active:
        return State.UNKNOWN, "no traffic"
    if victim:
        return State.BROKEN, reason
    if reason:
        return State.NOT_PROMISED, reason
    if track.slow:
        return State.KEPT, "above the promised delay alone: fabric or guest"
    if track.p99_us is None and track.p99_limit_us != float("inf"):
        return State.KEPT, "delay not measured"
    return State.KEPT, "at its own limiter" if track.at_limiter else ""
