"""One symptom's life: healthy, raising, active, clearing, and back.

Hysteresis is in both directions: conditions must hold for `raise_for_s` of event time before a symptom is active, and must be clearly
gone for `clear_for_s` before it is cleared. A window without the needed values is *unknown*: it starts nothing and ends nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from wallwatch.domain.catalogue.models import Condition, Definition, Severity
from wallwatch.domain.symptoms.window import WINDOW_MS, Feature

FeatureOf = Callable[[Condition], Feature | None]
Life = dict[str, Any]
"""`{"phase", "since" (ms), "started" (ms), "reported" (ms), "checked" (ms)}`; empty when healthy."""


class Verdict(StrEnum):
    PRESENT = "present"
    ABSENT = "absent"
    BETWEEN = "between"
    """Neither raise nor clear thresholds are crossed: the present phase goes on."""
    UNKNOWN = "unknown"


class Phase(StrEnum):
    HEALTHY = "healthy"
    RAISING = "raising"
    ACTIVE = "active"
    CLEARING = "clearing"


class Change(StrEnum):
    RAISED = "raised"
    CLEARED = "cleared"


def judge(definition: Definition, feature_of: FeatureOf, active: bool) -> Verdict:
    """Compare a definition's conditions with the windows.

    While a symptom is not active, every required and gate condition must hold. Once it is active the gates no longer matter, and any
    required signal that has crossed its clear threshold says that it is gone.
    """
    unknown = False
    missed = False
    for condition in definition.conditions:
        if condition.role == "supporting" or (active and condition.role == "gate"):
            continue
        found = feature_of(condition)
        if found is None:
            unknown = True
        elif active and condition.clear is not None and condition.clear.holds(found.value):
            return Verdict.ABSENT
        elif not condition.raise_.holds(found.value):
            missed = True
            if not active:
                break
    if missed:
        return Verdict.BETWEEN if active else Verdict.ABSENT
    return Verdict.UNKNOWN if unknown else Verdict.PRESENT


def advance(life: Life, definition: Definition, verdict: Verdict, now_ms: int) -> tuple[Life, Change | None]:
    """The next phase after a verdict at `now_ms` of event time."""
    phase = Phase(life.get("phase", Phase.HEALTHY))
    # Nobody saw what was in a gap longer than a window, so a phase that must last without a break starts again after it.
    broken = now_ms - life.get("checked", now_ms) > WINDOW_MS

    if phase in (Phase.HEALTHY, Phase.RAISING):
        if verdict is Verdict.UNKNOWN and phase is Phase.RAISING and not broken:
            return {**life, "checked": now_ms}, None
        if verdict is not Verdict.PRESENT:
            return {}, None
        since = life["since"] if phase is Phase.RAISING and not broken else now_ms
        if now_ms - since < definition.raise_for_s * 1000:
            return {"phase": Phase.RAISING, "since": since, "checked": now_ms}, None
        return {"phase": Phase.ACTIVE, "started": since, "since": now_ms, "checked": now_ms}, Change.RAISED

    if verdict is Verdict.ABSENT:
        since = life["since"] if phase is Phase.CLEARING and not broken else now_ms
        if now_ms - since >= definition.clear_for_s * 1000:
            return {}, Change.CLEARED
        return {**life, "phase": Phase.CLEARING, "since": since, "checked": now_ms}, None
    if verdict is Verdict.UNKNOWN and phase is Phase.CLEARING and not broken:
        # Time without a measurement does not count towards being healthy.
        return {**life, "since": life["since"] + now_ms - life["checked"], "checked": now_ms}, None
    return {**life, "phase": Phase.ACTIVE, "checked": now_ms}, None


def severity(definition: Definition, value_of: Callable[[str], float | None]) -> Severity:
    """`critical` when any of the definition's bounds is met, else `warning`."""
    for bound in definition.critical_when:
        value = value_of(bound.signal)
        if value is not None and bound.holds(value):
            return "critical"
    return "warning"
