"""Parameters of the remedies that a finding suggests, from its own measurements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wallwatch.domain.catalogue.load import remedies
from wallwatch.domain.catalogue.models import Definition

USUAL_MAX_IDLE_MS = 60_000
"""Six times OVS's default of 10 s. The revalidator cuts off longer counter gaps, so their true length is unknown: start well above."""

USUAL_CONTAINERS_PER_MINUTE, USUAL_BURST = 30, 4
"""A container of the paper's hosts inserts some hundred flows: 4 at once are well below 1,000 insertions per second."""
USUAL_REPORTER = "fw_fatal"
"""The reporter that fails on mlx5 when the firmware has stopped. On ice it is tx_hang; the agent rejects others with a list of valid
names."""
USUAL_CONTEXTS, SHARE_OF_CONTEXTS, USUAL_PORTS = 8_000, 0.8, 8
"""Contexts where no wall is known (the paper's is 10,000), as a share of one that is, and the most containers that may get slow for it."""
USUAL_RELEASE_INTERVAL_MS = 2_000
"""Well above the time of one release, a second or less."""


def suggested_max_idle_ms(max_idle_ms: float | None, longest_gap_s: float | None) -> int:
    """An idle time that flows with late counters survive, in ms: at least 60 s, three times the present one, and twice the longest gap.

    >>> suggested_max_idle_ms(10_000, 12.0), suggested_max_idle_ms(60_000, None), suggested_max_idle_ms(3_000_000, 90)
    (60000, 180000, 3600000)
    """
    parameter = remedies()["tune-revalidator"].params["max_idle_ms"]
    wanted = max(USUAL_MAX_IDLE_MS, 3.0 * (max_idle_ms or 0.0), 2000.0 * (longest_gap_s or 0.0))
    rounded = int(-(-wanted // 10_000) * 10_000)
    return min(rounded, parameter.maximum or rounded)


def suggested_contexts(contexts: float | None, wall_share: float | None) -> int:
    """A cap on encapsulation contexts: 80% of the wall, which is the contexts divided by their share of it.

    >>> suggested_contexts(9_500, 0.95), suggested_contexts(None, None), suggested_contexts(0, 0)
    (8000, 8000, 8000)
    >>> suggested_contexts(3_800, 0.95)
    3200
    """
    parameter = remedies()["cap-encap-contexts"].params["max_contexts"]
    wanted = round(SHARE_OF_CONTEXTS * contexts / wall_share) if contexts and wall_share else USUAL_CONTEXTS
    return max(parameter.minimum or wanted, min(wanted, parameter.maximum or wanted))


def suggest(definition: Definition, pci: str, title: str, value_of: Callable[[str], float | None]) -> list[dict[str, Any]]:
    """The catalogue's remedies for a symptom, with parameters that their action accepts."""
    params: dict[str, dict[str, Any]] = {
        "tune-revalidator": {"max_idle_ms": suggested_max_idle_ms(value_of("max_idle_ms"), value_of("counter_gap_max_s"))},
        "cordon-rnic": {"pci": pci, "reason": f"Wallwatch: {title}"[:200]},
        "pace-flow-insertion": {"pci": pci, "containers_per_minute": USUAL_CONTAINERS_PER_MINUTE, "burst": USUAL_BURST},
        "pace-vf-unbinding": {"pci": pci, "interval_ms": USUAL_RELEASE_INTERVAL_MS},
        "cap-encap-contexts": {
            "pci": pci,
            "max_contexts": suggested_contexts(value_of("encap_contexts"), value_of("encap_wall_share")),
            "max_ports": USUAL_PORTS,
        },
        "recover-health-reporter": {"pci": pci, "reporter": USUAL_REPORTER},
    }
    return [{"action": each.action, "params": params[each.action], "why": each.why} for each in definition.remedies]
