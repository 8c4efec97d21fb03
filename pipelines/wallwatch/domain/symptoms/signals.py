"""Signals of one RNIC sample: fields of `rnic_offload` and what is derived from them (labels in `catalogue/signals.yaml`).

A value that cannot be known is left out. Nothing here replaces a missing value by zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wallwatch.domain.catalogue.models import Profile
from wallwatch.domain.performance.model import bandwidth_share, latency_us

RAW = (
    "flows_offloaded",
    "flow_insertions_per_s",
    "reoffloads_per_s",
    "reoffload_ratio",
    "counter_gap_p95_s",
    "counter_gap_max_s",
    "max_idle_ms",
    "packets_per_s",
    "q_egress",
    "q_ingress",
)
_WALL_SHARES = (
    ("flows_wall_share", "flows_offloaded", "offloaded_flows"),
    ("insertions_wall_share", "flow_insertions_per_s", "flow_insertions"),
    ("encap_wall_share", "encap_contexts", "encap_contexts"),
)


def of_sample(fields: Mapping[str, Any], profile: Profile | None, misses_per_s: float | None) -> dict[str, float]:
    """All signals that this sample gives.

    Parameters
    ----------
    fields : mapping
        Fields of one `rnic_offload` message.
    profile : Profile or None
        The RNIC's model; without it, nothing that needs a limit or the performance model is derived.
    misses_per_s : float or None
        Datapath misses of the host, packets/s.
    """
    found: dict[str, float] = {}
    for name in RAW:
        value = fields.get(name)
        if value is not None:
            found[name] = float(value)

    if "reoffload_ratio" not in found and found.get("flow_insertions_per_s") == 0.0 and found.get("reoffloads_per_s") == 0.0:
        # The ratio has no value when nothing was inserted. Both rates were measured, and nothing inserted is nothing re-offloaded.
        found["reoffload_ratio"] = 0.0

    packets, software = found.get("packets_per_s"), fields.get("software_packets_per_s")
    if packets is not None and software is not None and (packets > 0.0 or software == 0.0):
        found["software_share"] = min(float(software) / packets, 1.0) if packets > 0.0 else 0.0

    gap, max_idle = found.get("counter_gap_p95_s"), found.get("max_idle_ms")
    # After a change of max-idle the ratio still tells of deletions under the former value, which the present gap says nothing about.
    past_deletions_only = found.get("reoffloads_per_s") == 0.0 and found.get("reoffload_ratio", 0.0) > 0.0
    if gap is not None and max_idle and not past_deletions_only:
        found["counter_gap_share"] = gap * 1000.0 / max_idle

    if profile is not None:
        for share, field, wall in _WALL_SHARES:
            value = fields.get(field)
            if value is not None:
                found[share] = float(value) / profile.limits[wall].value
        if "q_egress" in found and "q_ingress" in found:
            # The RNIC's own ingress chain stands for the peers' Q_r, which needs a join across hosts (paper, section 4.2).
            found["bandwidth_share"] = bandwidth_share(profile.performance, found["q_egress"], found["q_ingress"])
            head_us = latency_us(profile.performance, 0.0, 0.0)
            found["latency_share"] = latency_us(profile.performance, found["q_egress"], found["q_ingress"]) / head_us

    if misses_per_s is not None:
        found["datapath_misses_per_s"] = misses_per_s
    return found


def counter_rate(previous: tuple[int, int] | None, at_ms: int, value: int) -> float | None:
    """Increase of a counter per second since `previous = (ms, value)`; None at first sight, after a reset, or without time between.

    >>> counter_rate((1000, 50), 3000, 60), counter_rate((1000, 50), 3000, 10), counter_rate(None, 3000, 60)
    (5.0, None, None)
    """
    if previous is None or at_ms <= previous[0] or value < previous[1]:
        return None
    return (value - previous[1]) * 1000.0 / (at_ms - previous[0])
