"""The finding `isolation` (rule I/1): promises to an RNIC's VFs are broken again and again. Pure; event time.

The seconds themselves come from the detector (`domain/isolation`); here is only the hysteresis, and what a person needs: who suffers, who
takes too much, what is overloaded, and which rate ends it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from wallwatch.domain.catalogue.isolation import isolation_rule
from wallwatch.domain.catalogue.load import other_conditions, remedies
from wallwatch.domain.evidence import Evidence
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.instants import rfc3339
from wallwatch.domain.isolation import words
from wallwatch.domain.symptoms import finding_messages
from wallwatch.domain.symptoms.explain import clock, explain_cleared, who
from wallwatch.domain.symptoms.remedies import Derived

SYMPTOM = "isolation"
_MOST_NAMED = 5
"""Names in a sentence: more are counted, or nobody reads on."""


@dataclass(frozen=True, slots=True)
class Taker:
    """An aggressor of an interval. Rates are Mbit/s; None: unknown."""

    vf: int
    pod: str
    share: float | None
    """Offered share of what the RNIC can process."""
    fair_share: float | None
    tx_mbps: float | None
    rx_mbps: float | None
    min_mbps: float
    """What is promised to it; it is never limited below."""


@dataclass(frozen=True, slots=True)
class Sufferer:
    vf: int
    pod: str
    reason: str
    min_mbps: float = 0.0
    """What its SLO promises at least; 0: nothing."""
    set_mbps: float | None = None
    """The guarantee that is set on the RNIC; None: unknown."""
    max_mbps: float | None = None
    """The limit that is set on the RNIC, 0 for none; None: unknown."""


@dataclass(frozen=True, slots=True)
class Broken:
    """One interval in which promises were broken."""

    at_ms: int
    seconds: float
    mechanism: str | None
    victims: tuple[Sufferer, ...]
    aggressors: tuple[Taker, ...]
    """Those who take most first."""
    load: float | None
    port_drops_per_s: float | None


@dataclass(slots=True)
class Life:
    """The broken seconds of one RNIC, and its finding while there is one."""

    subject: finding_messages.Subject
    identity: Identity
    recent: deque[Broken] = field(default_factory=deque)
    started_ms: int | None = None
    """Since when it is a finding."""
    broken_ms: int = 0
    """The newest broken interval."""
    known_ms: int = 0
    """The newest reading, of an earlier process too."""
    last_ms: int | None = None
    """The reading before, of this process."""
    heard_ms: int = 0
    """The newest time of any host when this RNIC was measured last."""
    sent_ms: int = 0
    """The newest time of a message of the finding: it never goes back, or readers would take a newer message for an older one."""
    said_ms: int = 0
    total_s: float = 0.0
    """Broken seconds of the finding."""

    @property
    def idle(self) -> bool:
        """Nothing is left to remember."""
        return self.started_ms is None and not self.recent


def step(life: Life, at_ms: int, broken: Broken | None, fleet_ms: int | None = None) -> list[dict[str, Any]]:
    """Take what one reading showed; `broken` is None where no promise was broken.

    Parameters
    ----------
    at_ms
        Time of the reading by the host's own clock. Readings come in order, so an earlier time than before is a clock that was set back.
    fleet_ms
        The newest time of any host: silence is judged by it. None: that of this reading.

    Returns
    -------
    findings : list of dict
        Messages for `wallwatch.findings` (docs/contracts.md).
    """
    rule = isolation_rule()
    if life.last_ms is not None and at_ms < life.last_ms:
        _set_back(life, life.last_ms - at_ms)
    life.last_ms = at_ms
    life.heard_ms = max(life.heard_ms, at_ms if fleet_ms is None else fleet_ms)
    repeated = at_ms <= life.known_ms  # a process that starts again reads what an earlier one has counted
    life.known_ms = max(life.known_ms, at_ms)
    if broken is not None:
        life.recent.append(broken)
        life.broken_ms = at_ms
        life.total_s += 0.0 if repeated else broken.seconds
    while life.recent and life.recent[0].at_ms <= at_ms - rule.window_s * 1000:
        life.recent.popleft()
    if life.started_ms is None:
        if broken is None or sum(one.seconds for one in life.recent) < rule.raise_s:
            return []
        first = life.recent[0]
        life.started_ms, life.total_s = first.at_ms - round(first.seconds * 1000), sum(one.seconds for one in life.recent)
        life.said_ms = at_ms
        return [_active(life, life.started_ms, broken)]
    if at_ms - life.broken_ms >= rule.clear_s * 1000:
        return [_clear(life, life.started_ms, at_ms, f"No promise has been broken for {rule.clear_s / 60:.0f} minutes.")]
    if broken is not None and at_ms - life.said_ms >= rule.repeat_s * 1000:
        life.said_ms = at_ms
        return [_active(life, life.started_ms, broken)]
    return []


def _set_back(life: Life, by_ms: int) -> None:
    """The host's clock went back: times of before are put into its new time, so that a minute stays a minute."""
    life.recent = deque(replace(one, at_ms=one.at_ms - by_ms) for one in life.recent)
    life.broken_ms -= by_ms
    life.said_ms -= by_ms
    life.known_ms -= by_ms + 1  # what this reading shows is new


def forget(life: Life, now_ms: int) -> list[dict[str, Any]]:
    """End the finding of an RNIC that sends no readings any more; `now_ms` is the newest time of any host."""
    forgotten_s = isolation_rule().forgotten_s
    if life.started_ms is None or now_ms - life.heard_ms < forgotten_s * 1000:
        return []
    why = f"The RNIC's traffic has not been measured for {forgotten_s / 60:.0f} minutes, so the end was not observed."
    return [_clear(life, life.started_ms, now_ms, why)]


def suggested_limit(taker: Taker, mechanism: str | None) -> Derived | None:
    """The rate at which an aggressor uses somewhat less than its fair share, Mbit/s; None where nothing it follows from was measured.

    An aggressor of egress may stay below its share of the ingress engine: then the limit is a little below what it sends.

    >>> taker = Taker(3, "b/web", 0.6, 0.2, 500.0, 9000.0, 100.0)
    >>> suggested_limit(taker, "ingress bandwidth")
    Derived(value=2700, derivation='it takes 60% at 9,000 Mbit/s and its fair share is 20%: 9,000 Mbit/s x 20% / 60%, less 10%')
    >>> suggested_limit(Taker(3, "", 0.1, 0.2, 500.0, 20.0, 0.0), "egress buffer")
    Derived(value=450, derivation='its rate is 500 Mbit/s, less 10%')
    >>> suggested_limit(Taker(3, "", 0.9, 0.1, 10.0, 90.0, 50.0), "egress buffer").derivation
    'it takes 90% at 10 Mbit/s and its fair share is 10%: 10 Mbit/s x 10% / 90%, less 10%, raised to 50 Mbit/s, which it is promised'
    """
    parameter = remedies()["limit-vf-rate"].params["max_tx_mbps"]
    rate = (
        taker.tx_mbps if mechanism == "egress buffer" else max((r for r in (taker.rx_mbps, taker.tx_mbps) if r is not None), default=None)
    )
    if taker.fair_share is None or not taker.share or not rate:
        return None
    if taker.share <= taker.fair_share:
        wanted, derivation = rate, f"its rate is {rate:,.0f} Mbit/s"
    else:
        wanted = rate * taker.fair_share / taker.share
        derivation = (
            f"it takes {taker.share:.0%} at {rate:,.0f} Mbit/s and its fair share is {taker.fair_share:.0%}: "
            f"{rate:,.0f} Mbit/s x {taker.fair_share:.0%} / {taker.share:.0%}"
        )
    headroom = isolation_rule().limit_share
    wanted, derivation = wanted * headroom, f"{derivation}, less {1.0 - headroom:.0%}"
    if wanted < taker.min_mbps:
        wanted, derivation = taker.min_mbps, f"{derivation}, raised to {taker.min_mbps:,.0f} Mbit/s, which it is promised"
    value = round(wanted)
    if parameter.minimum is not None and value < parameter.minimum:
        value, derivation = parameter.minimum, f"{derivation}, raised to the smallest limit of {parameter.minimum:,} Mbit/s"
    if parameter.maximum is not None and value > parameter.maximum:
        value, derivation = parameter.maximum, f"{derivation}, lowered to the largest limit of {parameter.maximum:,} Mbit/s"
    return Derived(value, derivation)


def suggested_guarantee(victim: Sufferer, mechanism: str | None) -> Derived | None:
    """The minimum that a victim is promised and that is not set on the RNIC, Mbit/s; None where a guarantee would not help or be refused.

    It helps only where bandwidth is what all want. Where the setting of the RNIC is unknown, nothing is offered.

    >>> suggested_guarantee(Sufferer(0, "a/web", "", 2_000.0, 0.0), "ingress bandwidth")
    Derived(value=2000, derivation='its SLO promises at least 2,000 Mbit/s, and the RNIC guarantees it none')
    >>> suggested_guarantee(Sufferer(0, "a/web", "", 2_000.0, 2_000.0), "ingress bandwidth") is None
    True
    """
    parameter = remedies()["guarantee-vf-rate"].params["min_tx_mbps"]
    if mechanism != "ingress bandwidth" or victim.set_mbps is None or victim.set_mbps >= math.floor(victim.min_mbps):
        return None
    value = math.ceil(victim.min_mbps)
    if (parameter.maximum is not None and value > parameter.maximum) or (victim.max_mbps and value > victim.max_mbps):
        return None
    present = f"only {victim.set_mbps:,.0f} Mbit/s" if victim.set_mbps else "none"
    return Derived(value, f"its SLO promises at least {value:,} Mbit/s, and the RNIC guarantees it {present}")


def _name(vf: int, pod: str) -> str:
    return f"VF {vf} ({pod})" if pod else f"VF {vf}"


def _list(names: list[str]) -> str:
    """Names in a sentence.

    >>> _list(["VF 1"]), _list(["VF 1", "VF 2", "VF 3"]), _list([f"VF {i}" for i in range(8)])
    ('VF 1', 'VF 1, VF 2 and VF 3', 'VF 0, VF 1, VF 2, VF 3, VF 4 and 3 more')
    """
    shown = names[:_MOST_NAMED] + ([f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else [])
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _takes(taker: Taker) -> str:
    name = _name(taker.vf, taker.pod)
    if taker.share is None or taker.fair_share is None:
        return f"{name} takes more than its fair share"
    return f"{name} takes {taker.share:.0%} of what the RNIC can process, its fair share is {taker.fair_share:.0%}"


def _active(life: Life, started_ms: int, broken: Broken) -> dict[str, Any]:
    entry = other_conditions()[SYMPTOM]
    rule = isolation_rule()
    label = next((word.label for word in words.MECHANISMS if word.id == broken.mechanism), "undetermined")
    meaning = next(
        (word.meaning for word in words.MECHANISMS if word.id == broken.mechanism), "What is overloaded could not be determined."
    )
    victims = _list([_name(one.vf, one.pod) for one in broken.victims])
    takes = "; ".join(map(_takes, broken.aggressors[:_MOST_NAMED])) or "Who takes too much could not be determined"
    summary = f"{victims} {'suffers' if len(broken.victims) == 1 else 'suffer'} ({label}): {life.total_s:,.0f} broken seconds. {takes}."
    why = "; ".join(f"{_name(one.vf, one.pod)}: {one.reason}" for one in broken.victims[:_MOST_NAMED] if one.reason)
    life.sent_ms = max(life.sent_ms + 1, broken.at_ms)
    return {
        **_shell(life, "active", started_ms, life.sent_ms),
        "severity": "critical" if len(broken.victims) > 1 else "warning",
        "summary": summary,
        "explanation": (
            f"{entry.title} on {who(life.subject, life.identity)} since {clock(started_ms)}. {meaning} "
            f"{victims} stayed inside what is promised. "
            f"{takes}.{f' What was broken: {why}.' if why else ''}"
        ),
        "evidence": _evidence(life, broken, rule.raise_s, rule.window_s, label),
        "hypotheses": [],
        "remedies": _remedies(life, broken),
    }


def _evidence(life: Life, broken: Broken, raise_s: float, window_s: float, label: str) -> list[dict[str, Any]]:
    from_, to = rfc3339(life.recent[0].at_ms - round(life.recent[0].seconds * 1000)), rfc3339(broken.at_ms)
    begin = rfc3339(broken.at_ms - round(broken.seconds * 1000))
    rows = [
        Evidence(
            "broken_s_per_min", "Broken seconds per minute", "s/min", from_, to, round(sum(one.seconds for one in life.recent), 3),
            f"< {raise_s:g} s/min", f"Within {window_s:.0f} s; {life.total_s:,.0f} since the finding began. Mechanism: {label}.",
        ),
        Evidence(
            "vf_victims", "Victims", "VFs", begin, to, float(len(broken.victims)), "= 0",
            "; ".join(f"{_name(one.vf, one.pod)}: {one.reason or 'its promise was broken'}" for one in broken.victims) + ".",
        ),
    ]  # fmt: skip
    for taker in broken.aggressors:
        if taker.share is not None:
            expected = None if taker.fair_share is None else f"<= {taker.fair_share:.0%}"
            signal = f"vf{taker.vf}_share"
            text = f"{_takes(taker)}."
            rows.append(Evidence(signal, f"Share of {_name(taker.vf, taker.pod)}", "ratio", begin, to, taker.share, expected, text))
    if broken.load is not None:
        rows.append(Evidence("vf_load", "Offered load", "ratio", begin, to, broken.load, "<= 1", "1 is what the RNIC can process."))
    if broken.port_drops_per_s is not None:
        drops = broken.port_drops_per_s
        rows.append(Evidence("port_drops_per_s", "Drops of the port", "packets/s", begin, to, drops, "= 0", "Packets dropped on receive."))
    return [row.as_json() for row in rows]


def _remedies(life: Life, broken: Broken) -> list[dict[str, Any]]:
    offered = []
    pci = life.subject["pci"]
    if broken.aggressors:
        first = broken.aggressors[0]
        limit = suggested_limit(first, broken.mechanism)
        if limit is not None:
            why = f"{_name(first.vf, first.pod)} takes the most above its fair share; at this rate the promises to the others are kept."
            if (first.tx_mbps or 0.0) < (first.rx_mbps or 0.0):
                why += " It mostly receives: if its senders do not slow down with it, limit them at their hosts."
            offered.append(
                {
                    "action": "limit-vf-rate",
                    "params": {"pci": pci, "vf": first.vf, "max_tx_mbps": limit.value},
                    "why": why,
                    "derivations": {"max_tx_mbps": limit.derivation},
                }
            )
    for victim in broken.victims[:_MOST_NAMED]:
        guarantee = suggested_guarantee(victim, broken.mechanism)
        if guarantee is not None:
            offered.append(
                {
                    "action": "guarantee-vf-rate",
                    "params": {"pci": pci, "vf": victim.vf, "min_tx_mbps": guarantee.value},
                    "why": f"{_name(victim.vf, victim.pod)} suffers; with the guarantee others cannot take the minimum of what it sends.",
                    "derivations": {"min_tx_mbps": guarantee.derivation},
                }
            )
    cordon = {"pci": pci, "reason": "Wallwatch: Isolation broken"}
    why = "No further containers are placed on the RNIC until the promises are kept; those that are there stay."
    return [*offered, {"action": "cordon-rnic", "params": cordon, "why": why, "derivations": {}}]


def _clear(life: Life, started_ms: int, at_ms: int, why: str) -> dict[str, Any]:
    at_ms = max(at_ms, life.sent_ms)
    life.started_ms, life.total_s, life.sent_ms = None, 0.0, 0
    life.recent.clear()
    return {
        **_shell(life, "cleared", started_ms, at_ms),
        "severity": "warning",
        "summary": why,
        "explanation": f"{explain_cleared(other_conditions()[SYMPTOM], life.subject, life.identity, started_ms, at_ms)} {why}",
        "evidence": [],
        "hypotheses": [],
        "remedies": [],
    }


def _shell(life: Life, state: str, started_ms: int, at_ms: int) -> dict[str, Any]:
    shell = finding_messages.shell(other_conditions()[SYMPTOM], life.subject, life.identity, state, started_ms, at_ms)
    return {**shell, "rule": isolation_rule().rule, "blast_radius": "rnic"}
