"""A found cause in words: its conditions, and the text of a ticket with the smallest configuration that fails."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from wallwatch_backend.lab.schemas_report import FoundCause, LabCondition, LabReport

_COMPARISONS = {">=": "is at least", "<=": "is at most", "==": "is", "!=": "is not"}


def value_text(value: Any) -> str:
    """A value as a person writes it.

    >>> value_text(7200), value_text(True), value_text(0.5), value_text(["b", "a"])
    ('7,200', 'on', '0.5', 'b, then a')
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, list):
        return ", then ".join(value_text(each) for each in value)
    return str(value)


def condition_text(condition: LabCondition, units: Mapping[str, str]) -> str:
    """One condition as words; `units` maps parameters to their units.

    >>> condition_text(LabCondition(parameter="masks", op=">=", value=32), {"masks": "masks"})
    'masks is at least 32'
    >>> condition_text(LabCondition(parameter="interval", op="<=", value=5), {"interval": "s"})
    'interval is at most 5 s'
    >>> condition_text(LabCondition(parameter="verb", op="in", value=["send", "write"]), {})
    'verb is send or write'
    >>> condition_text(LabCondition(parameter="order", op="before", value=["unbind", "free"]), {})
    'order: unbind comes before free'
    >>> condition_text(LabCondition(parameter=None, op=">=", expression="qps*message_kib", value=4096), {})
    'qps × message_kib is at least 4,096'
    >>> moved = [{"at": {"lanes": "16"}, "value": 44}, {"at": {"lanes": "4"}, "value": 99}]
    >>> condition_text(LabCondition(parameter="masks", op=">=", value=44, moved_by=["lanes"], thresholds=moved), {})
    'masks is at least 44 (44 to 99, depending on lanes)'
    """
    value = condition.value
    name = condition.parameter or (condition.expression or "").replace("*", " × ").replace("/", " ÷ ")
    if condition.op == "before" and isinstance(value, list) and len(value) == 2:
        return f"{name}: {value[0]} comes before {value[1]}"
    if condition.op == "in" and isinstance(value, list):
        return f"{name} is {' or '.join(value_text(each) for each in value)}"
    unit = units.get(condition.parameter or "", "")
    shown = f" {unit}" if unit and isinstance(value, int | float) and not isinstance(value, bool) and unit not in name else ""
    return f"{name} {_COMPARISONS.get(condition.op, condition.op)} {value_text(value)}{shown}{_moved(condition)}"


def _moved(condition: LabCondition) -> str:
    """How far other parameters move the threshold."""
    values = [one.value for one in condition.thresholds if one.value is not None]
    if not condition.moved_by or not values:
        return ""
    never = " or never" if len(values) < len(condition.thresholds) else ""
    names = " and ".join(condition.moved_by)
    return f" ({min(values):,g} to {max(values):,g}{never}, depending on {names})"


def cause_text(cause: FoundCause, units: Mapping[str, str]) -> str:
    """The cause as one sentence.

    >>> cause_text(FoundCause(id=1, symptom="S6", conditions=[LabCondition(parameter="masks", op=">=", value=32)]), {})
    'S6 appears when masks is at least 32.'
    """
    conditions = " and ".join(condition_text(condition, units) for condition in cause.conditions) or "nothing in particular is set"
    what = f"{cause.symptom} appears" if cause.symptom is not None else f"{cause.metric or 'The performance'} gets worse"
    return f"{what} when {conditions}."


def reproducer(cause: FoundCause, report: LabReport, units: Mapping[str, str]) -> str:
    """The text of a ticket: what fails, the smallest configuration that shows it, and its nearest neighbour that does not."""
    differs = sorted(name for name, value in cause.failing.items() if cause.passing.get(name, value) != value)
    lines = [cause_text(cause, units), ""]
    if cause.recognised is not None:
        lines += [f"Known cause: {cause.recognised.cause}, {cause.recognised.label}", ""]
    lines += [
        f"Device: {report.device}",
        f"Found in {report.tests:,} tests and resets, seed {report.seed}, confidence {cause.confidence:.0%}",
    ]
    for metric, effect in cause.effect.items():
        change = "" if effect.change is None else f" ({effect.change:+.0%})"
        lines.append(f"{metric}: {effect.good:g} without the cause, {effect.bad:g} with it{change}")
    if cause.recovers is False:
        lines.append("The device does not recover until a reset.")
    for limit in cause.thresholds:
        lines.append(f"{limit.parameter}: last good {limit.last_good:g}, first bad {limit.first_bad:g}")
    lines += ["", "Fails:", json.dumps(cause.failing, sort_keys=True, indent=2)]
    if differs:
        passing = {name: cause.passing[name] for name in differs}
        lines += ["", f"Passes with only this changed: {json.dumps(passing, sort_keys=True)}"]
    return "\n".join(lines) + "\n"


def chosen(report: LabReport, ids: Sequence[int]) -> list[FoundCause]:
    """The causes of a report with these ids; all without ids."""
    return [cause for cause in report.causes if not ids or cause.id in ids]
