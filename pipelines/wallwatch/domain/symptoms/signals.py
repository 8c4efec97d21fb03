"""Signals of one sample: fields of `rnic_offload` and `rnic`, and what is derived from them (labels in `catalogue/signals.yaml`).

A value that cannot be known is left out. Nothing here replaces a missing value by zero. A field of the wrong type or out of range is as
good as missing, and is counted by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from librt.vecs import vec
from mypy_extensions import i64

from wallwatch.domain.catalogue.models import Profile
from wallwatch.domain.performance.remembered import surface_of
from wallwatch.domain.symptoms import baseline
from wallwatch.domain.symptoms.baseline import Mean
from wallwatch.domain.symptoms.rnic_state import UNKNOWN, RnicState
from wallwatch.domain.symptoms.watched_counters import FATAL_ERRORS, MOST, trouble_counters, watched_counters
from wallwatch.domain.telemetry.rows import Group, several

RAW = (
    "flows_offloaded", "flow_insertions_per_s", "flow_deletions_per_s", "reoffloads_per_s", "reoffload_ratio", "stale_reoffload_share",
    "counter_gap_p95_s", "counter_gap_max_s", "max_idle_ms", "packets_per_s", "q_egress", "q_ingress", "software_packets_per_s",
    "flows_overdue", "flows_tc_software", "deletion_ms", "deletion_lag_p95_s", "encap_contexts", "masks_egress", "masks_ingress",
)  # fmt: skip
_RAW_FIELDS = Group(*RAW)
_WALL_SHARES = (
    ("flows_wall_share", "flows_offloaded", "offloaded_flows"),
    ("insertions_wall_share", "flow_insertions_per_s", "flow_insertions"),
    ("encap_wall_share", "encap_contexts", "encap_contexts"),
)

FULL = 0.85
"""A port that carries this share of the predicted bandwidth is full: the model is accurate to a few per cent, and traffic varies."""

MOST_USUAL_DELETIONS = 5.0
"""An RNIC's own time per deletion counts as usual up to this multiple of its profile's: below the 6 times at which S4 is raised, so that no
RNIC whose deletions are slow even in a small table is its own measure."""


def number(value: object) -> float | None:
    """A measured number, or None for text, booleans, negative values and NaN."""
    if type(value) is float or type(value) is int:
        return float(value) if 0 <= value < 2**63 else None
    return None


def of_offload(
    fields: Mapping[str, Any], rnic_state: RnicState, profile: Profile, misses_per_s: float | None
) -> tuple[dict[str, float], int]:
    """All signals that one `rnic_offload` sample gives, and how many of its fields cannot be used.

    Parameters
    ----------
    fields : mapping
        Fields of the message.
    rnic_state : RnicState
        What is known of the RNIC; its baselines move.
    profile : Profile
        The RNIC's model, or the generic one.
    misses_per_s : float or None
        Datapath misses of the host, packets/s.
    """
    found: dict[str, float] = {}
    wrong = 0
    for name, value in zip(RAW, several(fields, _RAW_FIELDS), strict=True):
        if (type(value) is float or type(value) is int) and 0 <= value < 2**63:  # as `number`, without a call for each
            found[name] = float(value)
        elif value is not None or name in fields:
            wrong += 1

    insertions, reoffloads = found.get("flow_insertions_per_s"), found.get("reoffloads_per_s")
    if "reoffload_ratio" not in found and insertions == 0.0 and reoffloads == 0.0:
        # The ratio has no value when nothing was inserted. Both rates were measured, and nothing inserted is nothing re-offloaded.
        found["reoffload_ratio"] = 0.0
    packets, software = found.get("packets_per_s"), found.get("software_packets_per_s")
    if packets is not None and software is not None and (packets > 0.0 or software == 0.0):
        found["software_share"] = min(software / packets, 1.0) if packets > 0.0 else 0.0

    flows = found.get("flows_offloaded")
    if flows and "flows_overdue" in found:
        found["overdue_share"] = min(found["flows_overdue"] / flows, 1.0)

    limits = profile.limits
    for share, field, wall in _WALL_SHARES:
        value = found.get(field)
        if value is not None:
            found[share] = value / limits[wall].value
    if "q_egress" in found and "q_ingress" in found:
        # The RNIC's own ingress chain stands for the peers' Q_r, which needs a join across hosts (paper, section 4.2).
        _harm(found, rnic_state, profile)

    if misses_per_s is not None:
        found["datapath_misses_per_s"] = misses_per_s
    return found, wrong


def _harm(found: dict[str, float], rnic_state: RnicState, profile: Profile) -> None:
    """Cost of mask lookups: the predicted share of the bandwidth, the latency of the worse direction (the other end counts as the head of
    its chain, a lower bound), and the bandwidth that is missing on a port that carries all the model leaves it.

    The other ends' chains are unknown here. At worst they are as long as the RNIC's own, and then the port is full with less. Where
    none of the counters of waiting senders has moved, it is not, unless it carries what its own chain alone leaves (decision 0012).
    """
    p = surface_of(profile.performance)
    q_out, q_in = found["q_egress"], found["q_ingress"]
    most = p.bandwidth_gbps(q_out, q_in)
    found["bandwidth_share"] = share = most / p.head_gbps
    found["latency_share"] = max(p.latency_us(q_out, 0.0), p.latency_us(0.0, q_in)) / p.head_us
    carried = max(rnic_state.sent_gbps, rnic_state.received_gbps)
    if carried == carried:
        if rnic_state.waits is False:
            most = min(p.bandwidth_gbps(q_out, 0.0), p.bandwidth_gbps(0.0, q_in))
        full = carried >= FULL * most
        # Bandwidth that the port carries is not lost, whatever the model predicts.
        left = max(share, carried / p.head_gbps)
        found["bandwidth_lost"] = max(1.0 - left, 0.0) if full else 0.0


def usual_deletion_ms(rnic_state: RnicState, profile: Profile) -> float:
    """Time per deletion in a small table, ms: the profile's value, or the RNIC's own minimum if that is larger.

    A small table's few deletions are too short for the sweeps' times in whole ms, so a value below the profile's is ignored.

    >>> from wallwatch.domain.catalogue.load import profiles
    >>> usual_deletion_ms(RnicState(), profiles()["CX-6"])
    0.2
    """
    assumed = profile.deletion_ms.value
    shown = baseline.least_of(rnic_state.least, "deletion_ms")
    return assumed if shown is None else min(max(shown, assumed), MOST_USUAL_DELETIONS * assumed)


_PORT = Group(
    "tx_gbps", "rx_gbps", "admin_state", "operstate", "port_state", "pci_link_speed_gts", "pci_link_width",
    "port_xmit_data", "port_rcv_data", "tx_bytes", "rx_bytes",
)  # fmt: skip
"""What is read of the port itself: at last its counters of data, of which the first pair that a driver has counts."""


def of_rnic(fields: Mapping[str, Any], rnic_state: RnicState, at_ms: int, rates: dict[str, float] | None = None) -> dict[str, float]:
    """All signals that one `rnic` sample gives; `rnic_state`, which remembers counters and baselines, moves on. `rates` takes the increase
    per second of each counter that grew."""
    found: dict[str, float] = {}
    tx_gbps, rx_gbps, admin, operational, port, speed_gts, lanes, xmit_data, rcv_data, tx_bytes, rx_bytes = several(fields, _PORT)
    sent, received = number(tx_gbps), number(rx_gbps)
    if sent is not None and received is not None:
        found["port_gbps"] = both = sent + received
        rnic_state.sent_gbps, rnic_state.received_gbps = sent, received
        if rnic_state.port_mean is None:
            rnic_state.port_mean = Mean()
        usual = rnic_state.port_mean.take(both, at_ms)
        if usual is not None and usual > 0.0:
            found["port_share"] = both / usual
    if type(xmit_data) is int and type(rcv_data) is int:
        _frozen(found, xmit_data, rcv_data, rnic_state, at_ms)
    elif type(tx_bytes) is int and type(rx_bytes) is int:
        _frozen(found, tx_bytes, rx_bytes, rnic_state, at_ms)
    if isinstance(admin, str):
        found["port_off"] = float(admin == "down")
    state = port if isinstance(port, str) else operational
    if isinstance(state, str):
        found["port_down"] = float(state != "ACTIVE" and state.lower() not in ("up", "unknown"))
    speed, width = number(speed_gts), number(lanes)
    if speed is not None and width is not None:
        _of_link(found, speed * width, rnic_state)
    grown, elapsed_s = _take_counters(found, fields, rnic_state, at_ms)
    if rates is not None and elapsed_s > 0.0:
        for name, increase in grown.items():
            rates[name] = increase / elapsed_s
    return found


def _of_link(found: dict[str, float], now: float, rnic_state: RnicState) -> None:
    best = rnic_state.most_pcie
    if best != best or now > best:
        rnic_state.most_pcie = best = now
    if best > 0.0:
        found["pcie_share"] = now / best


def _frozen(found: dict[str, float], sent: int, received: int, rnic_state: RnicState, at_ms: int) -> None:
    before = rnic_state.moved_at
    if before == UNKNOWN or rnic_state.moved_sent != sent or rnic_state.moved_received != received:
        rnic_state.moved_at, rnic_state.moved_sent, rnic_state.moved_received = at_ms, sent, received
        if before != UNKNOWN:
            found["port_frozen_s"] = 0.0
    elif at_ms >= before:
        found["port_frozen_s"] = (at_ms - before) / 1000.0


class _Grown:
    """What the counters of two samples tell."""

    __slots__ = ("by_name", "has_trouble", "has_waits", "trouble", "waits")

    def __init__(self) -> None:
        self.by_name: dict[str, int] = {}
        self.trouble: int = 0
        self.has_trouble = False
        self.waits = False
        self.has_waits = False


def _compare(now: vec[i64], fields: Mapping[str, Any], before: vec[i64]) -> _Grown:
    """Fill in the counters, and say which have grown since `before`, which is empty where they were never read."""
    grown, counters = _Grown(), watched_counters()
    place: i64 = -1
    for value in several(fields, counters.group):
        place += 1
        if type(value) is not int or not 0 <= value < MOST:
            continue
        count: i64 = value
        now[place] = count
        grown.has_waits = grown.has_waits or counters.tells_of_waiting[place]
        if not len(before):
            continue
        last = before[place]
        if last == UNKNOWN or count < last:
            continue  # one that went backwards was reset, and has no rate this time (see `counter_rate`)
        is_trouble = counters.is_trouble[place]
        grown.has_trouble = grown.has_trouble or is_trouble
        if count != last:
            increase: int = count - last  # without a limit, unlike a sum of machine numbers
            grown.by_name[counters.names[place]] = increase
            if is_trouble:
                grown.trouble += increase
            grown.waits = grown.waits or counters.tells_of_waiting[place]
    return grown


def _take_counters(found: dict[str, float], fields: Mapping[str, Any], rnic_state: RnicState, at_ms: int) -> tuple[dict[str, int], float]:
    """Signals of counters: those that have grown since the sample before, by how much, and how long ago that was, s."""
    counters, before = watched_counters(), rnic_state.counters
    now = vec[i64]([UNKNOWN] * len(counters.names))
    grown = _compare(now, fields, before)
    rnic_state.waits = grown.waits if grown.has_waits else None
    elapsed_s = 0.0
    if len(before):
        elapsed_s = (at_ms - rnic_state.counted_at) / 1000.0
        for place, (name, signal) in zip(counters.fatal, FATAL_ERRORS, strict=True):
            if before[place] == UNKNOWN:
                continue
            if now[place] == UNKNOWN:
                now[place] = before[place]  # drivers are read less often than the rest
            elif now[place] >= before[place]:
                found[signal] = float(grown.by_name.get(name, 0))
    if grown.trouble:
        rnic_state.trouble_parts = {name: increase for name, increase in grown.by_name.items() if name in trouble_counters()}
    if grown.has_trouble and elapsed_s > 0.0:
        found["trouble_per_s"] = rate = grown.trouble / elapsed_s
        if rnic_state.trouble_mean is None:
            rnic_state.trouble_mean = Mean()
        usual = rnic_state.trouble_mean.take(rate, at_ms)
        if usual is not None:
            found["trouble_share"] = rate / max(usual, 1.0)
    rnic_state.counters, rnic_state.counted_at = now, at_ms
    return grown.by_name, elapsed_s


def counter_rate(previous: tuple[int, int] | None, at_ms: int, value: int) -> float | None:
    """Increase of a counter per second since `previous = (ms, value)`; None at first sight, after a reset, or without time between.

    >>> counter_rate((1000, 50), 3000, 60), counter_rate((1000, 50), 3000, 10), counter_rate(None, 3000, 60)
    (5.0, None, None)
    """
    if previous is None or at_ms <= previous[0] or value < previous[1]:
        return None
    return (value - previous[1]) * 1000.0 / (at_ms - previous[0])
