"""The causes of a lab's report, read strictly, as predicates of configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.lab_evaluation.expressions import Expression, Unreadable

from dut_zoo.conditions import Condition
from dut_zoo.parameters import Boolean, Choice, Config, Integer, Order, Parameter

OPS: dict[type, frozenset[str]] = {
    Choice: frozenset({"==", "in", "!="}),
    Boolean: frozenset({"==", "in", "!="}),
    Integer: frozenset({"==", "in", "!=", ">=", "<="}),
    Order: frozenset({"before"}),
}


@dataclass(frozen=True)
class ReportedBoundary:
    """`expression >= value`."""

    expression: Expression
    value: float
    at_least: bool

    def holds(self, config: Config) -> bool:
        """Whether a configuration is beyond it."""
        actual = self.expression.of({name: config[name] for name in self.expression.names})
        return actual >= self.value if self.at_least else actual <= self.value


@dataclass(frozen=True)
class ReportedCause:
    """One cause of the report."""

    symptom: str | None
    metric: str | None
    conditions: tuple[Condition, ...]
    boundaries: tuple[ReportedBoundary, ...]

    def holds(self, config: Config) -> bool:
        """Whether it predicts that a configuration fails."""
        return all(one.holds(config) for one in self.conditions) and all(one.holds(config) for one in self.boundaries)


def read_causes(report: Mapping[str, Any], parameters: tuple[Parameter, ...]) -> list[ReportedCause]:
    """The causes of a report.

    Raises
    ------
    Unreadable
        The report has not the form of the protocol, or names what the device has not.
    """
    known = {one.name: one for one in parameters}
    causes = report.get("causes")
    if not isinstance(causes, list):
        raise Unreadable("the report has no list of causes")
    return [_cause(one, known) for one in causes]


def _cause(cause: Mapping[str, Any], known: Mapping[str, Parameter]) -> ReportedCause:
    conditions, boundaries = [], []
    for one in cause["conditions"]:
        if one.get("parameter") is None:
            boundaries.append(_boundary(one, known))
        else:
            conditions.append(_condition(one, known))
    if not conditions and not boundaries:
        raise Unreadable("a cause has no conditions")
    symptom, metric = cause.get("symptom"), cause.get("metric")
    if symptom is None and metric is None:
        raise Unreadable("a cause has neither symptom nor metric")
    return ReportedCause(symptom, None if symptom else metric, tuple(conditions), tuple(boundaries))


def _boundary(one: Mapping[str, Any], known: Mapping[str, Parameter]) -> ReportedBoundary:
    expression = Expression(one.get("expression"))
    strange = [name for name in expression.names if not isinstance(known.get(name), Integer)]
    if strange or one.get("op") not in (">=", "<="):
        raise Unreadable(f"boundary {one}: names other than integers of the device, or an operator other than >= and <=")
    return ReportedBoundary(expression, float(one["value"]), one["op"] == ">=")


def _condition(one: Mapping[str, Any], known: Mapping[str, Parameter]) -> Condition:
    parameter = known.get(one["parameter"])
    if parameter is None:
        raise Unreadable(f"condition {one}: the device has no such parameter")
    op, value = one.get("op"), one.get("value")
    if op not in OPS[type(parameter)]:
        raise Unreadable(f"condition {one}: no such operator for its kind")
    if op in ("in", "before"):
        if not isinstance(value, list) or (op == "before" and len(value) != 2):
            raise Unreadable(f"condition {one}: the value must be a list")
        values = value
    else:
        values = [value]
    known_events = parameter.values if isinstance(parameter, Order) else None
    if any(item not in known_events if known_events else not _fits(parameter, item) for item in values):
        raise Unreadable(f"condition {one}: a value outside the domain")
    return Condition(parameter.name, op, tuple(values) if op in ("in", "before") else value)


def _fits(parameter: Parameter, value: object) -> bool:
    """In the domain; a threshold may lie between two steps."""
    if isinstance(parameter, Integer):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return parameter.contains(value)
