"""Parameters of the remedies that a finding suggests, from its own measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from wallwatch.domain.catalogue.load import remedies
from wallwatch.domain.catalogue.models import Definition
from wallwatch.domain.catalogue.remedy_order import offered

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


class Derived(NamedTuple):
    """A recommended value, and how it follows from what was measured."""

    value: int
    derivation: str


def suggested_max_idle(max_idle_ms: float | None, longest_gap_s: float | None) -> Derived:
    """An idle time that flows with late counters survive, in ms: at least 60 s, three times the present one, and twice the longest gap.

    >>> suggested_max_idle(10_000, 12.0)
    Derived(value=60000, derivation='at least 60,000 ms, six times the default')
    >>> suggested_max_idle(60_000, None)
    Derived(value=180000, derivation='present max-idle 60,000 ms x 3')
    >>> suggested_max_idle(10_000, 87.3)
    Derived(value=180000, derivation='longest counter gap 87.3 s x 2, rounded up to 180,000 ms')
    >>> suggested_max_idle(3_000_000, 90).value
    3600000
    """
    parameter = remedies()["tune-revalidator"].params["max_idle_ms"]
    candidates = (
        (float(USUAL_MAX_IDLE_MS), f"at least {USUAL_MAX_IDLE_MS:,} ms, six times the default"),
        (3.0 * (max_idle_ms or 0.0), f"present max-idle {max_idle_ms or 0.0:,.0f} ms x 3"),
        (2000.0 * (longest_gap_s or 0.0), f"longest counter gap {longest_gap_s or 0.0:.3g} s x 2"),
    )
    wanted, derivation = max(candidates, key=lambda candidate: candidate[0])
    rounded = int(-(-wanted // 10_000) * 10_000)
    value = min(rounded, parameter.maximum or rounded)
    if value < rounded:
        derivation += f", limited to {value:,} ms"
    elif value > wanted:
        derivation += f", rounded up to {value:,} ms"
    return Derived(value, derivation)


def suggested_contexts(contexts: float | None, wall_share: float | None) -> Derived:
    """A cap on encapsulation contexts: 80% of the limit, which is the contexts divided by their share of it.

    >>> suggested_contexts(3_800, 0.95)
    Derived(value=3200, derivation='80% of the limit of 4,000 contexts')
    >>> suggested_contexts(None, None)
    Derived(value=8000, derivation='80% of 10,000 contexts, because the limit of this RNIC is unknown')
    >>> suggested_contexts(0, 0).value
    8000
    """
    parameter = remedies()["cap-encap-contexts"].params["max_contexts"]
    if contexts and wall_share:
        limit = contexts / wall_share
        wanted, derivation = round(SHARE_OF_CONTEXTS * limit), f"{SHARE_OF_CONTEXTS:.0%} of the limit of {limit:,.0f} contexts"
    else:
        limit = USUAL_CONTEXTS / SHARE_OF_CONTEXTS
        wanted, derivation = USUAL_CONTEXTS, f"{SHARE_OF_CONTEXTS:.0%} of {limit:,.0f} contexts, because the limit of this RNIC is unknown"
    return Derived(max(parameter.minimum or wanted, min(wanted, parameter.maximum or wanted)), derivation)


def suggest(
    symptom: str,
    definition: Definition,
    likely_causes: Sequence[str],
    pci: str,
    title: str,
    value_of: Callable[[str], float | None],
) -> list[dict[str, Any]]:
    """The remedies for a finding in the order in which they are offered, with parameters that their action accepts.

    The parameters of a mask plan come with the plan, except the RNIC. `derivations` says of each measured parameter how it follows.
    """
    max_idle = suggested_max_idle(value_of("max_idle_ms"), value_of("counter_gap_max_s"))
    contexts = suggested_contexts(value_of("encap_contexts"), value_of("encap_wall_share"))
    params: dict[str, dict[str, Any]] = {
        "tune-revalidator": {"max_idle_ms": max_idle.value},
        "cordon-rnic": {"pci": pci, "reason": f"Wallwatch: {title}"[:200]},
        "pace-flow-insertion": {"pci": pci, "containers_per_minute": USUAL_CONTAINERS_PER_MINUTE, "burst": USUAL_BURST},
        "pace-vf-unbinding": {"pci": pci, "interval_ms": USUAL_RELEASE_INTERVAL_MS},
        "cap-encap-contexts": {"pci": pci, "max_contexts": contexts.value, "max_ports": USUAL_PORTS},
        "recover-health-reporter": {"pci": pci, "reporter": USUAL_REPORTER},
        "apply-mask-plan": {"pci": pci},
    }
    derivations = {
        "tune-revalidator": {"max_idle_ms": max_idle.derivation},
        "cap-encap-contexts": {"max_contexts": contexts.derivation},
    }
    return [
        {"action": each.action, "params": params[each.action], "why": each.why, "derivations": derivations.get(each.action, {})}
        for each in offered(likely_causes, symptom, definition.remedies)
    ]
