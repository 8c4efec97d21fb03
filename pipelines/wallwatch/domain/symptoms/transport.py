"""Signals of an RNIC's transport engine, for the behaviours of `catalogue/behaviours.yaml`. Pure and in event time.

Most RNICs show nothing of the kind most of the time, and this stage runs for every sample of the fleet: so counters, pairs and the window
of these signals (`RnicState.transport`) are kept only from the first sign of a behaviour until some time after the last one.
A signal that cannot be known is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from wallwatch.domain.catalogue.behaviour_models import PEERS, Contradiction
from wallwatch.domain.catalogue.load import behaviours, contradictions
from wallwatch.domain.symptoms import contradictions as contradictions_of
from wallwatch.domain.symptoms.peers import EXPLAINED_BY, HANDLED, READS, REPEATED, Key, Peers, total_of
from wallwatch.domain.symptoms.rnic_state import UNKNOWN, RnicState
from wallwatch.domain.symptoms.signals import number
from wallwatch.domain.symptoms.watched_counters import MOST
from wallwatch.domain.telemetry.registry import measurements

QUIET_MS = 90_000
"""For so long after the last sign the signals are followed: longer than the longest window (60 s) and the time to clear (60 s) of samples
at 10 s together with one that is left out."""

PRIORITIES = 8
"""Of IEEE 802.1Q."""

_ALTERNATIVES: dict[str, tuple[str, ...]] = {
    "discards_per_s": ("rx_discards_phy", "rx_dropped_nic"),
    "transmit_waits_per_s": ("port_xmit_wait",),
    "ack_timeouts_per_s": ("local_ack_timeout_err",),
    "cnps_handled_per_s": ("rp_cnp_handled", "cnpHandled"),
    "adaptive_retransmissions_per_s": ("roce_adp_retrans",),
    "adaptive_timeouts_per_s": ("roce_adp_retrans_to",),
}
"""Signals that are the rate of one counter: the first that a driver has."""

_SUMS: dict[str, tuple[str, ...]] = {
    "pauses_per_s": (
        "rx_pause_ctrl_phy", "tx_pause_ctrl_phy", "rx_global_pause", "tx_global_pause", "link_xoff_rx_nic", "link_xoff_tx_nic",
        *(f"{way}_prio{n}_pause" for way in ("rx", "tx") for n in range(PRIORITIES)),
    ),
    "host_drops_per_s": ("out_of_buffer", "rx_out_of_buffer"),
    "sequence_errors_per_s": ("packet_seq_err", "implied_nak_seq_err", "out_of_sequence"),
}  # fmt: skip
"""Signals that are the rate of all counters of a list that a driver has, together."""

_SENT_BYTES = tuple(f"tx_prio{n}_bytes" for n in range(PRIORITIES))
_SENT_PACKETS = tuple(f"tx_prio{n}_packets" for n in range(PRIORITIES))


@cache
def _watched() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Counters whose increase is required: those of files, and those that the driver is asked for, which is less often."""
    names = {name for group in (*_ALTERNATIVES.values(), *_SUMS.values()) for name in group} | {*_SENT_BYTES, *_SENT_PACKETS}
    fields = measurements()["rnic"].fields
    of_driver = {name for name in names if fields[name].source.startswith("ethtool")}
    return tuple(sorted(names - of_driver)), tuple(sorted(of_driver))


@cache
def _pairs_of(variant: str) -> tuple[tuple[str, Contradiction], ...]:
    """Contradictions that are judged on a model; without a known model, those of all models."""
    return tuple((name, pair) for name, pair in contradictions().items() if not pair.models or variant in pair.models)


LEAST_DISCARDS_PER_S = 1.0
"""Fewer drops of the port are nothing to follow: a tenth of what any behaviour is raised for, and where it clears."""


def _shows(rnic_state: RnicState, variant: str, rates: Mapping[str, float], key: Key, at_ms: int, peers: Peers | None) -> bool:
    """Whether a sample may be the first of a behaviour. It is asked for every sample, and few show anything."""
    if rates:
        if "roce_adp_retrans_to" in rates:
            return True
        if ("np_ecn_marked_roce_packets" in rates or "RxECNMrkd" in rates) and "np_cnp_sent" not in rates and "cnpSent" not in rates:
            return True
        if "port_xmit_wait" in rates and rnic_state.ets is not None:
            return True
        if rates.get("rx_discards_phy", 0.0) >= LEAST_DISCARDS_PER_S and variant in _judged_by_drops():
            return True
    if peers is None or not peers.may_repeat():
        return False
    return variant in behaviours()["B5"].applies_to and bool(peers.rate(key, REPEATED, at_ms))


@cache
def _judged_by_drops() -> frozenset[str]:
    """Models of which a behaviour shows in what the port drops."""
    return frozenset(model for b in behaviours().values() if b.definition is not None for model in b.applies_to)


def take(
    rnic_state: RnicState, key: Key, at_ms: int, fields: Mapping[str, Any], rates: Mapping[str, float], peers: Peers | None
) -> dict[str, float]:
    """All signals of one `rnic` sample; empty while the RNIC shows nothing. `rnic_state` moves on.

    Parameters
    ----------
    key : tuple of str
        Host and PCI address.
    rates : mapping
        Increase per second of those counters that every sample is compared by and that grew.
    peers : Peers or None
        What the other ends count; None where the caller hears no other host.
    """
    if "ets_bandwidth" in fields or "ecn_np_priorities" in fields:
        _take_settings(rnic_state, fields)
    kept = rnic_state.engine
    variant = rnic_state.variant
    new_qps = _new_qps(rnic_state, at_ms, fields) if "qps" in fields else None
    if _shows(rnic_state, variant, rates, key, at_ms, peers):
        if kept is None:
            kept = rnic_state.engine = {"pairs": {}, "totals": {}}
        kept["shown"] = at_ms
    elif kept is None:
        return {}
    elif at_ms - kept["shown"] > QUIET_MS and behaviours().keys().isdisjoint(rnic_state.symptoms):
        forget(rnic_state)
        return {}
    rates = {**rates, **_rates(kept["totals"], at_ms, fields)}
    found: dict[str, float] = {}
    _of_counters(found, rates)
    _of_port(found, fields)
    _of_queue_pairs(found, new_qps, fields)
    _of_classes(found, rnic_state.ets, rates, fields)
    if variant:
        found["slow_path_model"] = float(variant in behaviours()["B2"].applies_to)
    if peers is not None:
        _of_peers(found, peers, key, at_ms, variant)
    _of_settings(found, rnic_state.np, rates)
    _of_pairs(found, kept, at_ms, fields, variant, peers, key)
    return found


def forget(rnic_state: RnicState) -> None:
    """Drop everything but the settings."""
    rnic_state.engine = rnic_state.transport = None


def _rates(totals: dict[str, list[Any]], at_ms: int, fields: Mapping[str, Any]) -> dict[str, float]:
    """Increase per second of the counters that this sample has and that were not reset; `totals` (`{source: [ms, [values]]}`) moves on.
    One that is missing now is unknown in the next sample too.
    """
    rates: dict[str, float] = {}
    for source, names in zip(("files", "driver"), _watched(), strict=True):
        now = [value if type(value) is int else None for value in map(fields.get, names)]
        if not any(value is not None for value in now):
            continue
        before = totals.get(source)
        if before is not None and at_ms <= before[0]:
            continue
        if before is not None and len(before[1]) == len(now):
            per_s = 1000.0 / (at_ms - before[0])
            for name, last, value in zip(names, before[1], now, strict=True):
                if last is not None and value is not None and value >= last:
                    rates[name] = (value - last) * per_s
        totals[source] = [at_ms, now]
    return rates


def _of_counters(found: dict[str, float], rates: Mapping[str, float]) -> None:
    for signal, names in _ALTERNATIVES.items():
        value = next((rates[name] for name in names if name in rates), None)
        if value is not None:
            found[signal] = value
    for signal, names in _SUMS.items():
        known = [rates[name] for name in names if name in rates]
        if known:
            found[signal] = sum(known)


def _of_port(found: dict[str, float], fields: Mapping[str, Any]) -> None:
    rate = number(fields.get("rate_gbps"))
    for signal, field in (("transmit_share", "tx_gbps"), ("receive_share", "rx_gbps")):
        carried = number(fields.get(field))
        if rate and carried is not None:
            found[signal] = carried / rate


def _new_qps(rnic_state: RnicState, at_ms: int, fields: Mapping[str, Any]) -> float | None:
    """Queue pairs per second that are new. Always remembered: the start of connections is over within one sample."""
    count, before, before_ms = fields["qps"], rnic_state.qps, rnic_state.qps_at
    if type(count) is not int:
        return None
    rnic_state.qps_at, rnic_state.qps = at_ms, count
    return max(count - before, 0) * 1000.0 / (at_ms - before_ms) if before_ms != UNKNOWN and at_ms > before_ms else None


def _of_queue_pairs(found: dict[str, float], new_qps: float | None, fields: Mapping[str, Any]) -> None:
    for name in ("qps_losing", "qps_waiting"):
        value = number(fields.get(name))
        if value is not None:
            found[name] = value
    if new_qps is not None:
        found["new_qps_per_s"] = new_qps


LONGEST_NUMBER = 3
"""Digits of a share in percent, or of a class: a host may write any text."""


def _is_small(text: str) -> bool:
    """Whether a text is a number of a few digits, and nothing that only looks like one.

    >>> [_is_small(text) for text in ("0", "100", "\u00b2", "9999", "", "-1")]
    [True, True, False, False, False, False]
    """
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER


def _take_settings(rnic_state: RnicState, fields: Mapping[str, Any]) -> None:
    """Remember what the collector reads once per minute: guarantees of traffic classes, and the notification point."""
    bandwidth, algorithms, classes = (
        str(fields.get(name, "")).split(",") for name in ("ets_bandwidth", "ets_algorithms", "ets_priority_classes")
    )
    if "ets_bandwidth" in fields:
        rnic_state.ets = None
        if len(bandwidth) == len(algorithms) == len(classes) == PRIORITIES and all(map(_is_small, (*bandwidth, *classes))):
            shares = {n: int(bandwidth[n]) / 100.0 for n in range(PRIORITIES) if algorithms[n] == "ets" and int(bandwidth[n])}
            if len(shares) > 1:
                rnic_state.ets = [[share, [prio for prio in range(PRIORITIES) if int(classes[prio]) == n]] for n, share in shares.items()]
    enabled, priority = fields.get("ecn_np_priorities"), fields.get("ecn_np_cnp_802p_prio")
    if isinstance(enabled, str):
        rnic_state.np = [int(enabled != "none"), priority if type(priority) is int and 0 <= priority < PRIORITIES else None]


def _of_classes(found: dict[str, float], ets: list[Any] | None, rates: Mapping[str, float], fields: Mapping[str, Any]) -> None:
    """How far the busiest guaranteed class is from its guarantee, and what the others leave of theirs.

    Unknown where a priority of one of the classes has no counter, or the classes carry nothing.
    """
    link = number(fields.get("rate_gbps"))
    if ets is None or not link:
        return
    port = link * 1e9 / 8
    carried = []
    for share, priorities in ets:
        of_class = [rates.get(_SENT_BYTES[n]) for n in priorities]
        if not of_class or None in of_class:
            return
        carried.append((share, sum(value for value in of_class if value is not None) / port))
    share, busiest = max(carried, key=lambda one: one[1] / one[0])
    if busiest <= 0.0:
        return
    found["class_deviation"] = abs(busiest / share - 1.0)
    found["class_unused_share"] = sum(max(guarantee - rate, 0.0) for guarantee, rate in carried if (guarantee, rate) != (share, busiest))


LARGEST_CNP_BYTES = 128.0
"""A notification has 62 bytes without tags and tunnel headers, 116 with VLAN and VXLAN: larger packets are data of the same priority."""


def _of_settings(found: dict[str, float], np: list[Any] | None, rates: Mapping[str, float]) -> None:
    found["np_off"] = float(np is not None and not np[0])
    if np is None:
        return
    found["np_unobserved"] = float(np[0] and "peers_cnps_handled_per_s" not in found)
    if np[1] is not None:
        packets, sent = rates.get(_SENT_PACKETS[np[1]]), rates.get(_SENT_BYTES[np[1]])
        if packets is not None and sent is not None:
            found["cnp_priority_packets_per_s"] = packets if sent <= LARGEST_CNP_BYTES * packets else 0.0


def _of_peers(found: dict[str, float], peers: Peers, key: Key, at_ms: int, variant: str) -> None:
    reads = peers.rate(key, READS, at_ms)
    if reads is not None:
        found["peers_reads_per_s"] = reads
    handled, fleet = peers.rate(key, HANDLED, at_ms), peers.unexplained(HANDLED, at_ms)
    if handled is not None and (fleet is not None or handled == 0.0):
        found["peers_cnps_handled_per_s"] = min(handled, fleet.per_s) if fleet is not None else 0.0
    pair = behaviours()["B3"].interoperability
    models = peers.models(key) if pair is not None and variant in pair.receivers else None
    if pair is not None and models is not None:
        found["mismatched_senders"] = float(sum(model in pair.senders for model in models))


def _of_pairs(
    found: dict[str, float], kept: dict[str, Any], at_ms: int, fields: Mapping[str, Any], variant: str, peers: Peers | None, key: Key
) -> None:
    lifespan = number(fields.get("lifespan")) or 0.0
    for name, pair in _pairs_of(variant):
        effect = total_of(fields, pair.effect)
        of_peers = pair.cause[0].startswith(PEERS)
        cause = _of_peers_total(kept, pair, at_ms, peers, key) if of_peers else total_of(fields, pair.cause)
        readings = kept["pairs"].get(name)
        if cause is not None and effect is not None:
            if readings is None:
                readings = kept["pairs"][name] = []
            contradictions_of.take(readings, pair, at_ms, cause, effect)
        if readings:
            judged = contradictions_of.judge(readings, pair, at_ms, lifespan)
            amount = _capped(judged.unanswered, pair, at_ms, peers) if of_peers else judged.unanswered
            if amount is not None:
                found[name] = amount


_PEER_COUNTERS = {"peers.duplicate_request": REPEATED, "peers.rx_read_requests": READS, "peers.rp_cnp_handled": HANDLED}


def _capped(amount: float | None, pair: Contradiction, at_ms: int, peers: Peers | None) -> float | None:
    """What peers counted, at most as much as the fleet counted without its cause; None where either is unknown."""
    what = _PEER_COUNTERS[pair.cause[0]]
    if amount is None or what not in EXPLAINED_BY:
        return amount
    fleet = peers.unexplained(what, at_ms) if peers is not None else None
    return min(amount, fleet.amount) if fleet is not None else None


def _of_peers_total(kept: dict[str, Any], pair: Contradiction, at_ms: int, peers: Peers | None, key: Key) -> int | None:
    """What peers counted since this RNIC is followed, from their rates; None where none of them is known."""
    name = pair.cause[0]
    rate = peers.rate(key, _PEER_COUNTERS[name], at_ms) if peers is not None else None
    if rate is None:
        return None
    before_ms, total = kept.setdefault("peers", {}).get(name, (at_ms, 0.0))
    total = min(total + rate * max(at_ms - before_ms, 0) / 1000.0, float(MOST))
    kept["peers"][name] = [at_ms, total]
    return int(total)
