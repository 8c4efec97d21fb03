"""Overload of the ingress engine: offered shares, aggressors, victims, and whether packets or bytes bind (PicNIC V2 and V3)."""

from __future__ import annotations

from dataclasses import dataclass

from wallwatch.domain.isolation.engine_load import Costs, EngineLoad
from wallwatch.domain.isolation.engine_shares import smallest_set, water_level
from wallwatch.domain.isolation.full_part import FullPart, full_part, usual_load
from wallwatch.domain.isolation.readings import MBPS
from wallwatch.domain.isolation.second import FEW_PER_S, Breakage, Second
from wallwatch.domain.isolation.verdicts import Mechanism
from wallwatch.domain.isolation.vf_track import VfTrack

CALM_LOAD = 0.85
"""Below this load the engine is calm: up to 1 % of drops (and fewer than 10,000 per second) are then bursts of some milliseconds."""

CALM_LOSS = 0.01

HIGH_LOAD = 0.9
"""From this load on a learnt engine's queue delays everybody before it drops (M/D/1: mean wait 4.5 services)."""

AS_USUAL = 1.1
"""An engine at up to this part of its usual load is as calm as usual: a few drops and slow VFs then have other causes."""

TAIL = 0.35
"""An engine that was full for less than this part of the interval, right after an overload, saw the end of that overload."""

STILL_PART = 0.1
"""A VF with less of the offered load than this does not overload anything."""

STILL_MORE = 1.2
"""A VF that receives this many times its usual packets has not ended its part in an overload."""

SURGE = 0.15
"""Growth of a learnt engine's load above the usual one, in parts of its capacity, that can have filled it for a part of the second."""

ATTRIBUTED = 0.5
"""When the VFs' own counters show this part of the engine's drops, they say who lost packets; otherwise only the port knows of them."""

REST_OF_OVERLOAD = 0.02
"""Part of the overload that may remain after the aggressors return to their share: the error of attributed drops."""

REST_OF_CAPACITY = 0.003
"""The same in parts of the capacity, for seconds in which the overload itself is small."""

FAIR = 1.05
"""A VF up to 5 % above its fair share is still well-behaved: costs and rates are measured no better."""

SHORT = 0.95
"""A VF that receives less than this part of its guaranteed minimum is short of it: the same 5 % as above."""

PACKETS_BIND_AT_LEAST = 300.0
PACKETS_BIND_AT_MOST = 700.0
"""Bytes. The mean packet size below which packets bind is the fitted ratio of the costs, held between these bounds:
engines differ there, but a storm of 64-byte packets is one of packets and a burst of full-sized ones is one of bytes on all of them.
The lower bound is above the ratio of most hardware, because a few full seconds leave the ratio open: up to it, a card that is fed packets
smaller than those of the Internet mix (340 bytes) would be relieved by fewer packets."""

GROWN = 0.5
"""Growth above the usual rate, in parts of the rate, whose packets have a size of their own."""

BEYOND = "above its fair share of the engine: nothing is owed to the excess"


@dataclass(slots=True)
class Shares:
    """Offered load of each VF while the engine was full, aligned with the tracks, and the level of fair shares."""

    offered: list[float]
    total: float
    capacity: float
    """What the engine passed on, in the unit of `offered`."""
    level: float
    """Fair share per weight; infinite when all fit."""

    def fair(self, weight: float) -> float:
        """Share that a VF of this weight may use."""
        return self.level * weight


def shares_of(second: Second, part: FullPart, costs: Costs, capacity: float) -> Shares:
    """Offered shares and the fair level at a capacity."""
    offered = part.offered(costs)
    level = water_level(capacity, offered, [track.weight for track in second.tracks])
    return Shares(offered, sum(offered), capacity, level)


def judge_ingress(
    second: Second, engine: EngineLoad, shared_delay: bool, calm_seconds: int, suspects: frozenset[str]
) -> tuple[Breakage | None, Shares | None, str | None]:
    """Judge an interval in which the engine dropped, or in which many VFs are slow.

    Parameters
    ----------
    shared_delay
        More VFs are slow at the same time than chance explains.
    calm_seconds
        Calm seconds behind the VFs' usual rates.
    suspects
        Aggressors of the interval before.

    Returns
    -------
    tuple
        The breakage (None: none of ingress), the shares, and a note.
    """
    passed = engine.costs.of(second.packets, second.bytes)
    if second.dropping:
        few = second.drops <= FEW_PER_S and second.loss <= CALM_LOSS
        as_usual = calm_seconds > 0 and passed <= AS_USUAL * usual_load(second, engine.costs)
        if few and passed < CALM_LOAD and (as_usual or not shared_delay) and (engine.learnt or engine.line_rate_known):
            return None, None, f"{second.drops:,.0f} drops/s with a calm engine (load {passed:.2f})"
        if not second.estimated:
            engine.full(second.packets, second.bytes)
    elif not shared_delay or 2 * len(second.slow) < second.delays or not engine.sure:
        return None, None, None  # one queue delays all of them
    elif passed < min(HIGH_LOAD, usual_load(second, engine.costs) + SURGE):
        return None, None, None
    costs = engine.cautious_costs(second.packets, second.bytes)
    part = full_part(second, costs, calm_seconds)
    usable = 1.0 if second.dropping else HIGH_LOAD
    shares = shares_of(second, part, costs, usable * part.passed(costs))
    aggressors = _aggressors(second.tracks, shares)
    if len(aggressors) > 1:
        aggressors = _under_all_ratios(aggressors, second, part, engine, usable)
    if part.part < TAIL:
        aggressors = _going_on(second, shares, suspects) or aggressors
    breakage = _breakage(second, shares, part, aggressors, None, costs)
    if breakage is None:
        return None, shares, "the engine dropped, and no well-behaved VF lost packets or was slow"
    return breakage, shares, None


def judge_pressure(second: Second, mechanism: Mechanism, shared_delay: bool) -> tuple[Breakage | None, Shares | None]:
    """Judge an interval with pressure on PCIe (bytes bind) or on the host's CPUs (packets bind).

    The capacity is what passed in this interval when packets were dropped, and a tenth less when VFs were only slow.
    """
    if not second.dropping and not shared_delay:
        return None, None
    packets, byte_rate = max(second.packets, 1.0), max(second.bytes, 1.0)
    costs = Costs(1.0 / packets, 0.0) if mechanism is Mechanism.CPU else Costs(0.0, 1.0 / byte_rate)
    part = full_part(second, costs, 0)
    shares = shares_of(second, part, costs, 1.0 if second.dropping else HIGH_LOAD)
    return _breakage(second, shares, part, _aggressors(second.tracks, shares), mechanism, costs), shares


def _under_all_ratios(aggressors: list[VfTrack], second: Second, part: FullPart, engine: EngineLoad, usable: float) -> list[VfTrack]:
    """Those of several aggressors that are ones under every plausible ratio of the costs; all of them when none is.

    Nobody is accused because a packet was assumed to cost less or more than it may.
    """
    kept = aggressors
    for ratio in engine.ratios:
        costs = Costs(ratio, 1.0)
        named = _aggressors(second.tracks, shares_of(second, part, costs, usable * part.passed(costs)))
        kept = [track for track in kept if track in named]
    return kept or aggressors


def _going_on(second: Second, shares: Shares, suspects: frozenset[str]) -> list[VfTrack]:
    """Aggressors of the interval before that still receive more than usual: this one is the end of theirs."""
    return [
        track
        for track, load in zip(second.tracks, shares.offered, strict=True)
        if track.name in suspects and track.rx_packets > STILL_MORE * track.calm_rx_packets and load > STILL_PART * shares.total
    ]


def _breakage(
    second: Second, shares: Shares, part: FullPart, aggressors: list[VfTrack], mechanism: Mechanism | None, costs: Costs
) -> Breakage | None:
    victims, reasons = _victims(second, shares, part, aggressors)
    if not victims or not aggressors:
        return None
    for track in aggressors:
        reasons[track.name] = BEYOND
    return Breakage(mechanism or _mechanism(aggressors, second, part, costs), victims, aggressors, reasons)


def _aggressors(tracks: list[VfTrack], shares: Shares) -> list[VfTrack]:
    overload = shares.total - shares.capacity
    excess = [load - shares.fair(track.weight) for track, load in zip(tracks, shares.offered, strict=True)]
    rest = max(REST_OF_OVERLOAD * overload, REST_OF_CAPACITY * shares.capacity)
    chosen = smallest_set(excess, overload, rest)
    chosen.sort(key=shares.offered.__getitem__, reverse=True)
    return [tracks[position] for position in chosen]


def _victims(second: Second, shares: Shares, part: FullPart, aggressors: list[VfTrack]) -> tuple[list[VfTrack], dict[str, str]]:
    """Well-behaved VFs that suffer, and the reason for each."""
    attributed = second.vf_drops >= ATTRIBUTED * second.drops
    victims = []
    reasons: dict[str, str] = {}
    for track, load, dropped in zip(second.tracks, shares.offered, part.dropped, strict=True):
        if track in aggressors or not track.promised:
            continue
        asked_for = track.rx_bytes * (1.0 + dropped * part.part / track.rx_packets) if track.rx_packets > 0 else 0.0
        if not track.inside or asked_for > track.max_bytes:
            reasons[track.name] = "at its own limiter" if track.at_limiter else "above its envelope"
            continue
        if load > FAIR * shares.fair(track.weight):
            reasons[track.name] = BEYOND
            continue
        reason = _suffers(track, second, attributed, asked_for)
        if reason:
            victims.append(track)
            reasons[track.name] = reason
    return victims, reasons


def _suffers(track: VfTrack, second: Second, attributed: bool, asked_for: float) -> str:
    """Which part of the promise is broken; `asked_for` is what the VF was sent, bytes per second, and known where drops are attributed."""
    short = ""
    if attributed and asked_for >= track.min_bytes > 0.0 and track.rx_bytes < SHORT * track.min_bytes:
        received, owed, sent = (rate * 8.0 / MBPS for rate in (track.rx_bytes, track.min_bytes, asked_for))
        short = f"received {received:,.0f} Mbit/s of the {owed:,.0f} that it is guaranteed, and was sent {sent:,.0f}"
    if track.rx_dropped > 0 and track.loss > track.loss_limit:
        return f"lost {track.loss:.2%} of its packets inside its envelope{short and '; '}{short}"
    if short:
        return short
    if track.slow:
        return f"p99 {track.p99_us:,.0f} µs, promised {track.p99_limit_us:,.0f} µs"
    if second.dropping and not attributed and track.rx_packets > 0 and second.loss > track.loss_limit:
        return f"the engine dropped {second.loss:.2%} of all packets"
    return ""


def _mechanism(aggressors: list[VfTrack], second: Second, part: FullPart, costs: Costs) -> Mechanism:
    """Packets bind when those of the aggressors are small: their cost is then more that of packets than of bytes.

    Where an aggressor receives much more than usual, the size is that of what came in addition; else of all in the full part.
    """
    packets = byte_rate = 0.0
    for track, full_packets, full_bytes in zip(second.tracks, part.packets, part.bytes, strict=True):
        if track not in aggressors:
            continue
        more_packets, more_bytes = track.rx_packets - track.calm_rx_packets, track.rx_bytes - track.calm_rx_bytes
        grew = more_packets > GROWN * track.rx_packets and more_bytes > 0
        packets += more_packets if grew else full_packets * part.part
        byte_rate += more_bytes if grew else full_bytes * part.part
    size = byte_rate / packets if packets > 0 else 0.0
    threshold = min(max(costs.packet_bytes, PACKETS_BIND_AT_LEAST), PACKETS_BIND_AT_MOST)
    return Mechanism.PACKET_RATE if size < threshold else Mechanism.BANDWIDTH
