"""Turns a cause that the lab has found into a candidate rule: the state of an RNIC in which the lab saw the symptom or the decline.

A rule compares measured values with bounds, so only a threshold on one integer becomes a condition, and only where a signal shows it on
RNICs of the fleet (`lab.yaml`). Conditions that no signal shows are not checked; the rule is wider than the cause then, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from wallwatch.domain.catalogue import lab
from wallwatch.domain.catalogue.load import known_signals, symptoms

WINDOW_S = 30
"""Three samples at the usual 10 s: the lab's values stood still, and a mean over three samples does not follow a single one."""
RAISE_FOR_S, CLEAR_FOR_S = 30, 60
HYSTERESIS = 0.1
"""A bound is cleared when the value has moved away from the last good one by this share of it, as the catalogue's walls."""
AFTER_A_SYMPTOM_S = 180
"""As rule U/1: the consequences of S1 to S8 outlast them by about two minutes."""
Z_95 = 1.959964
"""Of the normal distribution, for 95% in both directions."""


class Condition(NamedTuple):
    """One condition of a cause; all of them hold together. `last_good`: the nearest value at which nothing fails, where it is known."""

    parameter: str | None
    op: str
    value: Any
    last_good: float | None
    text: str
    """The condition in words."""
    moved_by: Sequence[str] = ()
    """Other parameters that move the threshold: the rule has the usual one."""


class Found(NamedTuple):
    """What the lab says of a cause."""

    symptom: str | None
    metric: str | None
    conditions: Sequence[Condition]
    device: str
    model: str | None
    """The profile of the RNICs that the device stands for, where it is one."""
    evidence: str
    """On which evidence, as a sentence."""


class Candidate(NamedTuple):
    """A rule in the form of `AnotherRule`, without its name, and the conditions of the cause that it does not check."""

    rule: dict[str, Any]
    not_checked: tuple[str, ...]


class NoRule(ValueError):
    """No rule can express the cause; the message says why."""


def rule_of(found: Found) -> Candidate:
    """The candidate rule of a cause.

    Raises
    ------
    NoRule
        When no condition is a threshold that a signal shows.

    Examples
    --------
    >>> masks = Condition("egress_masks", ">=", 24, 23, "egress_masks is at least 24")
    >>> jumbo = Condition("jumbo", "==", True, None, "jumbo is on")
    >>> rule, not_checked = rule_of(Found("S6", None, [masks, jumbo], "lab card", "CX-6", "20 of 20 predictions came true."))
    >>> rule["title"], not_checked
    ('State in which the lab saw S6', ('jumbo is on',))
    >>> [(c["signal"], c["raise"], c["clear"]) for c in rule["definition"]["conditions"]]
    [('masks_egress', {'at_least': 24}, {'below': 20.7})]
    >>> rule_of(Found("S6", None, [jumbo], "lab card", None, ""))
    Traceback (most recent call last):
    wallwatch.domain.catalogue.rule_of_cause.NoRule: No signal of an RNIC shows this: jumbo is on.
    """
    conditions: list[dict[str, Any]] = []
    not_checked: list[str] = []
    for condition in found.conditions:
        made = _conditions(condition, found)
        conditions += made
        if not made:
            not_checked.append(condition.text)
        elif condition.moved_by:
            not_checked.append(f"how the bound of {condition.parameter} depends on {' and '.join(condition.moved_by)}")
    if not conditions:
        raise NoRule(f"No signal of an RNIC shows this: {'; '.join(not_checked) or 'a cause without conditions'}.")
    if len({one["signal"] for one in conditions}) < len(conditions):
        raise NoRule("Two conditions of the cause are bounds of one signal; a rule has one bound for each.")
    what = found.symptom or f"a decline of {found.metric or 'the performance'}"
    wider = f" It does not check: {'; '.join(not_checked)}." if not_checked else ""
    reason = f"{found.evidence}{wider}".strip()
    rule: dict[str, Any] = {"title": f"State in which the lab saw {what}"}
    if found.model is not None:
        rule["models"] = [found.model]
    rule["definition"] = {
        "rule": "L1/1",
        "blast_radius": "rnic",
        "raise_for_s": RAISE_FOR_S,
        "clear_for_s": CLEAR_FOR_S,
        "why": f"{reason} Raised after {RAISE_FOR_S} s and cleared after {CLEAR_FOR_S} s, as rule U/1. A warning: the lab's device is not "
        "this RNIC.",
        "not_with": dict.fromkeys(symptoms(), AFTER_A_SYMPTOM_S),
        "conditions": conditions,
        "severity": "warning",
        "critical_when": [],
        "summary": f"The RNIC is in a state in which the lab saw {what} on {_without_braces(found.device)}{_summary(conditions)}.",
        "remedies": [{"action": "cordon-rnic", "why": "Until someone has looked at it, no new containers are placed on the RNIC."}],
    }
    return Candidate(rule, tuple(not_checked))


def share_interval(agree: int, of: int) -> tuple[float, float]:
    """The 95% interval of a share that was seen in a sample (Wilson, 1927).

    >>> [round(one, 3) for one in share_interval(10, 10)], [round(one, 3) for one in share_interval(9, 10)]
    ([0.722, 1.0], [0.596, 0.982])
    """
    z2 = Z_95**2
    middle = (agree + z2 / 2) / (of + z2)
    half = Z_95 / (of + z2) * math.sqrt(agree * (of - agree) / of + z2 / 4)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def _conditions(condition: Condition, found: Found) -> list[dict[str, Any]]:
    """The conditions on signals that one condition of a cause becomes: alternatives where several signals show it, none where none does."""
    dimension = lab.dimension_of(condition.parameter or "")
    value = condition.value
    if dimension is None or condition.op not in (">=", "<=") or isinstance(value, bool) or not isinstance(value, int | float):
        return []
    good = condition.last_good if condition.last_good is not None else value
    up = condition.op == ">="
    bound = {"at_least" if up else "at_most": value}
    clear = {"below": round(good * (1 - HYSTERESIS), 3)} if up else {"above": round(good * (1 + HYSTERESIS), 3)}
    signals = lab.dimensions()[dimension].signals_of(condition.parameter or "")
    interval = f"last good {good:g}, first bad {value:g}" if condition.last_good is not None else f"bad from {value:g} on"
    if up and clear["below"] <= 0:
        return []
    return [
        {
            "signal": signal,
            "role": "required",
            **({"any": dimension} if len(signals) > 1 else {}),
            "window_s": WINDOW_S,
            "statistic": "mean",
            "raise": bound,
            "clear": clear,
            "text": f"{known_signals()[signal][0]}, bad {'from' if up else 'up to'} {value:g} {'on ' if up else ''}in the lab.",
            "why": f"Measured on {found.device}: {interval}. Cleared {HYSTERESIS:.0%} away from the last good value.",
        }
        for signal in signals
    ]


def _summary(conditions: Sequence[dict[str, Any]]) -> str:
    labels = {one["signal"]: known_signals()[one["signal"]][0] for one in conditions}
    return "".join(f"[; {label[0].lower()}{label[1:]}: {{{signal}:.0f}}]" for signal, label in labels.items())


def _without_braces(text: str) -> str:
    """A device's name cannot be a place for a signal."""
    return text.translate(str.maketrans("{}[]", "()()"))
