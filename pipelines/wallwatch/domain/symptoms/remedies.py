"""Parameters of the remedies that a finding suggests, from its own measurements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wallwatch.domain.catalogue.load import remedies
from wallwatch.domain.catalogue.models import Definition

USUAL_MAX_IDLE_MS = 60_000
"""Six times OVS's default of 10 s. The revalidator cuts longer counter gaps off, so their true length is not known: begin well above."""

USUAL_CONTAINERS_PER_MINUTE, USUAL_BURST = 30, 4
"""A container of the paper's hosts inserts some hundred flows: 4 at once are well below 1,000 insertions a second."""
USUAL_REPORTER = "fw_fatal"
"""What fails on mlx5 when the firmware has stopped. On ice it is tx_hang; the agent refuses with the names that the card has."""
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


def suggest(definition: Definition, pci: str, title: str, value_of: Callable[[str], float | None]) -> list[dict[str, Any]]:
    """The catalogue's remedies for a symptom, with parameters that their action accepts."""
    params: dict[str, dict[str, Any]] = {
        "tune-revalidator": {"max_idle_ms": suggested_max_idle_ms(value_of("max_idle_ms"), value_of("counter_gap_max_s"))},
        "cordon-rnic": {"pci": pci, "reason": f"Wallwatch: {title}"[:200]},
        "pace-flow-insertion": {"pci": pci, "containers_per_minute": USUAL_CONTAINERS_PER_MINUTE, "burst": USUAL_BURST},
        "pace-vf-unbinding": {"pci": pci, "interval_ms": USUAL_RELEASE_INTERVAL_MS},
        "recover-health-reporter": {"pci": pci, "reporter": USUAL_REPORTER},
    }
    return [{"action": each.action, "params": params[each.action], "why": each.why} for each in definition.remedies]
