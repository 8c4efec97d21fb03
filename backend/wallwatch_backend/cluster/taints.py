"""The taint of nodes whose RNICs are cordoned: pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from wallwatch_backend.cluster.conditions import Host

TAINT = "wallwatch.com/rnic-cordoned"
EFFECT = "NoSchedule"
"""Pods that run stay, as containers on a cordoned RNIC do; new pods go to other nodes instead of waiting here."""

Taints = Sequence[Mapping[str, Any]]


def wanted(host: Host | None, when: Literal["never", "all", "any"]) -> bool:
    """Whether a node should have the taint; None for a node that is no host of the fleet.

    >>> half = Host(rnics=2, cordoned=1, seen_at=None)
    >>> wanted(half, "all"), wanted(half, "any"), wanted(None, "any")
    (False, True, False)
    """
    if when == "never" or host is None or not host.cordoned:
        return False
    return when == "any" or host.cordoned >= host.rnics


def present(taints: Taints) -> bool:
    return any(taint.get("key") == TAINT for taint in taints)


def changed(taints: Taints, tainted: bool) -> list[dict[str, Any]]:
    """Return all taints of a node, with or without Wallwatch's; those of others stay.

    >>> changed([{"key": "gpu", "effect": "NoSchedule"}], True)[1]["key"]
    'wallwatch.com/rnic-cordoned'
    """
    others = [dict(taint) for taint in taints if taint.get("key") != TAINT]
    return [*others, {"key": TAINT, "value": "true", "effect": EFFECT}] if tainted else others
