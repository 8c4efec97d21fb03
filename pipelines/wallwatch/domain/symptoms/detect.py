"""One symptom's life: healthy, raising, active, clearing, and back.

Hysteresis is in both directions: conditions must hold for `raise_for_s` of event time before a symptom is active, and must be clearly
gone for `clear_for_s` before it is cleared. A window without the required values is *unknown*: it neither raises nor clears.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from wallwatch.domain.catalogue.models import Condition, Definition, Severity
from wallwatch.domain.evidence import Feature
from wallwatch.domain.symptoms.window import WINDOW_MS

FeatureOf = Callable[[Condition], Feature | None]
Life = dict[str, Any]
"""`{"phase", "since" (ms), "started" (ms), "reported" (ms), "checked" (ms), "known" (ms)}` and what the report keeps; empty when
healthy. A host's life has also the `pci` of its RNIC, and `raised_on`, the one that it was raised with, where that was none."""

SLACK = 0.9
"""Samples jitter: a duration counts as reached at 90% of it."""


class Verdict(StrEnum):
    PRESENT = "present"
    ABSENT = "absent"
    BETWEEN = "between"
    """Neither raise nor clear thresholds are crossed: the present phase continues."""
    UNKNOWN = "unknown"


class Phase(StrEnum):
    HEALTHY = "healthy"
    RAISING = "raising"
    ACTIVE = "active"
    CLEARING = "clearing"


class Change(StrEnum):
    RAISED = "raised"
    CLEARED = "cleared"


Groups = tuple[tuple[Condition, ...], ...]
"""Conditions that must hold; of the alternatives in a group, one."""


def _groups(conditions: tuple[Condition, ...], gates: bool) -> Groups:
    """Conditions that must hold, alternatives together; in the order of the catalogue."""
    found: dict[object, list[Condition]] = {}
    for i, condition in enumerate(conditions):
        if condition.role == "required" or (gates and condition.role == "gate"):
            found.setdefault(condition.any or i, []).append(condition)
    return tuple(tuple(group) for group in found.values())


_for_raising: dict[str, Groups] = {}
_for_clearing: dict[str, Groups] = {}


def groups(definition: Definition, active: bool) -> Groups:
    """What must hold while a symptom is not active, or what decides about its end: its required conditions."""
    known = _for_clearing if active else _for_raising
    found = known.get(definition.rule)
    if found is None:
        found = known[definition.rule] = _groups(definition.conditions, not active)
    return found


def judge(definition: Definition, feature_of: FeatureOf, active: bool, expected: Callable[[str], bool] = lambda signal: False) -> Verdict:
    """Compare a definition's conditions with the windows.

    Parameters
    ----------
    feature_of : callable
        Condition -> its signal over its window, None when it was not measured.
    active : bool
        Whether the symptom is active now: then its end is judged, otherwise its start.
    expected : callable
        Which signals have been measured before: a missing alternative may still hold.
    """
    if active:
        return _judge_end(groups(definition, True), feature_of, expected)
    return _judge_start(groups(definition, False), feature_of)


def _judge_start(must_hold: Groups, feature_of: FeatureOf) -> Verdict:
    """Every required and gate condition must hold, one of each group of alternatives."""
    verdict = Verdict.PRESENT
    for group in must_hold:
        missing = 0
        for condition in group:
            found = feature_of(condition)
            if found is None:
                missing += 1
            elif condition.raise_.holds(found.value):
                break
        else:
            if not missing:
                return Verdict.ABSENT
            # An alternative that is not measured might be the one that holds: not raised, and denied only by a later group.
            verdict = Verdict.UNKNOWN
    return verdict


def _judge_end(required: Groups, feature_of: FeatureOf, expected: Callable[[str], bool]) -> Verdict:
    """Gates are ignored, and the symptom is absent once any group of required signals is."""
    verdicts = set()
    for group in required:
        verdict = _still_there(group, feature_of, expected)
        if verdict is Verdict.ABSENT:
            return verdict
        verdicts.add(verdict)
    for verdict in (Verdict.BETWEEN, Verdict.UNKNOWN):
        if verdict in verdicts:
            return verdict
    return Verdict.PRESENT


def _still_there(group: tuple[Condition, ...], feature_of: FeatureOf, expected: Callable[[str], bool]) -> Verdict:
    """One group of an active symptom: gone when all of it that is measured has crossed its clear threshold."""
    missing, gone = 0, True
    for condition in group:
        found = feature_of(condition)
        if found is None:
            missing += 1
            gone = gone and not (len(group) > 1 and expected(condition.signal))
        elif condition.raise_.holds(found.value):
            return Verdict.PRESENT
        elif condition.clear is None or not condition.clear.holds(found.value):
            gone = False
    if missing == len(group):
        return Verdict.UNKNOWN
    if gone:
        return Verdict.ABSENT
    return Verdict.UNKNOWN if missing else Verdict.BETWEEN


def advance(life: Life, definition: Definition, verdict: Verdict, now_ms: int) -> tuple[Life, Change | None]:
    """The next phase after a verdict at `now_ms` of event time."""
    phase = life.get("phase", Phase.HEALTHY)
    # A gap longer than a window was not observed, so a phase that must last without a break restarts after it.
    broken = now_ms - life.get("checked", now_ms) > WINDOW_MS

    if phase in (Phase.HEALTHY, Phase.RAISING):
        if verdict is Verdict.UNKNOWN and phase == Phase.RAISING and not broken:
            return {**life, "checked": now_ms}, None
        if verdict is not Verdict.PRESENT:
            return {}, None
        since = life["since"] if phase == Phase.RAISING and not broken else now_ms
        if now_ms - since < definition.raise_for_s * 1000 * SLACK:
            return {"phase": str(Phase.RAISING), "since": since, "checked": now_ms}, None
        return {"phase": str(Phase.ACTIVE), "started": since, "since": now_ms, "checked": now_ms, "known": now_ms}, Change.RAISED

    known = life.get("known", now_ms) if verdict is Verdict.UNKNOWN else now_ms
    if verdict is Verdict.ABSENT:
        since = life["since"] if phase == Phase.CLEARING and not broken else now_ms
        if now_ms - since >= definition.clear_for_s * 1000 * SLACK:
            return {}, Change.CLEARED
        return {**life, "phase": str(Phase.CLEARING), "since": since, "checked": now_ms, "known": known}, None
    if verdict is Verdict.UNKNOWN and phase == Phase.CLEARING and not broken:
        # Time without a measurement does not count towards being healthy.
        return {**life, "since": life["since"] + now_ms - life["checked"], "checked": now_ms, "known": known}, None
    return {**life, "phase": str(Phase.ACTIVE), "checked": now_ms, "known": known}, None


def severity(definition: Definition, value_of: Callable[[str], float | None]) -> Severity:
    """`critical` when any of the definition's bounds is met, else the definition's severity."""
    for bound in definition.critical_when:
        value = value_of(bound.signal)
        if value is not None and bound.holds(value):
            return "critical"
    return definition.severity
