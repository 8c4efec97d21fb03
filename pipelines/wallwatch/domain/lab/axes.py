"""One parameter at a time: which of its values fail while all others stay (paper, section 4.1, local sensitivity analysis)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wallwatch.domain.lab.conditions import Among, Before, Condition, Range
from wallwatch.domain.lab.device import Config, Parameter, Scalar, Value, as_integer, as_order, as_scalar, is_among
from wallwatch.domain.lab.moving import tolerance_of
from wallwatch.domain.lab.paths import Decide, after_swaps, change_between, swaps
from wallwatch.domain.lab.report import Threshold

Variant = Callable[[Config, str, Value], Config | None]
"""A configuration with one value changed, kept valid by other parameters of the topology if need be; None if there is none."""


def integer_threshold(parameter: Parameter, bad: Config, good_value: int, decide: Decide) -> Threshold:
    """Halve between a good value and the one of a bad configuration, on the parameter's scale while they are far apart."""
    name = parameter.name
    good, bad_at = good_value, as_integer(bad[name])
    while abs(bad_at - good) > parameter.step:
        low, high = min(good, bad_at), max(good, bad_at)
        middle = parameter.between(low, high, 0.5)
        if not low < middle < high:
            middle = parameter.at((parameter.index(low) + parameter.index(high)) // 2)
        verdict = decide({**bad, name: middle})
        if verdict is None:
            low_index, high_index = parameter.index(low), parameter.index(high)
            is_low_bad = low == bad_at
            found = change_between(low_index, high_index, lambda i: decide({**bad, name: parameter.at(i)}), is_low_bad)
            first, second = parameter.at(found[0]), parameter.at(found[1])
            good, bad_at = (second, first) if is_low_bad else (first, second)
            break
        if verdict:
            bad_at = middle
        else:
            good = middle
    return Threshold(name, good, bad_at, parameter.step)


def beside_threshold(parameter: Parameter, condition: Range, value: int) -> int | None:
    """A value on the same side of the threshold at which this one stands, further from it by the tolerance; None if it stands at none."""
    step, ways = parameter.step, {condition.low: 1, condition.high: -1}
    for bound, inward in ways.items():
        if bound is None or value not in (bound, bound - inward * step):
            continue
        off = inward * tolerance_of(parameter, bound)
        moved = value + (off if value == bound else -off)
        if parameter.contains(moved) and (value != bound or condition.holds({parameter.name: moved})):
            return moved
    return None


def integer_condition(
    parameter: Parameter, bad: Config, good_value: int, decide: Decide
) -> tuple[Range, list[Threshold], list[tuple[int, bool]]]:
    """The values of an integer that fail around that of a bad configuration.

    Returns
    -------
    (range, thresholds, points)
        `points` are values at the parameter's ends and what they showed; an end on the good side that fails is another cause's
    """
    name = parameter.name
    at = as_integer(bad[name])
    first = integer_threshold(parameter, bad, good_value, decide)
    thresholds, points = [first], []
    upward = first.first_bad > first.last_good
    low, high = (first.first_bad, None) if upward else (None, first.first_bad)
    far = parameter.maximum if upward else parameter.minimum
    if far != at:
        verdict = decide({**bad, name: far})
        points.append((far, bool(verdict)))
        if verdict is False:
            second = integer_threshold(parameter, bad, far, decide)
            thresholds.append(second)
            low, high = (low, second.first_bad) if upward else (second.first_bad, high)
    near = parameter.minimum if upward else parameter.maximum
    if near not in (good_value, first.last_good):
        points.append((near, bool(decide({**bad, name: near}))))
    return Range(name, low, high), thresholds, points


def choice_condition(parameter: Parameter, bad: Config, good_value: Value, decide: Decide, variant: Variant) -> Among:
    """Each value of a choice or boolean once.

    Values that no valid configuration has here say nothing: where only one value passes, the condition is that it is another.
    """
    failing = [as_scalar(bad[parameter.name])]
    passing = [as_scalar(good_value)]
    for value in parameter.values:
        if is_among(value, (*failing, *passing)):
            continue
        config = variant(bad, parameter.name, value)
        verdict = None if config is None else decide(config)
        if verdict is not None:
            (failing if verdict else passing).append(value)
    if len(failing) > 1 and len(passing) == 1:
        failing = [one for one in parameter.values if not is_among(one, passing)]
    return Among(parameter.name, failing, parameter.values)


def order_conditions(parameter: Parameter, bad: Config, good_order: Sequence[Scalar], decide: Decide) -> list[Before]:
    """The fewest ordered pairs that make an order that passes fail, all else as in a failing configuration."""
    name = parameter.name
    found: list[Before] = []
    goal = as_order(bad[name])
    base = tuple(good_order)
    while base != goal:
        way = swaps(base, goal)
        _, high = change_between(0, len(way), _order_verdict(bad, name, base, way, decide), False)
        second, first = way[high - 1]
        goal = after_swaps(base, way[:high])
        if Before(name, first, second) in found:
            break
        found.append(Before(name, first, second))
        base = _with_pairs(tuple(good_order), found)
        if base == goal or decide({**bad, name: base}):
            break
    return found


def _order_verdict(
    bad: Config, name: str, base: tuple[Scalar, ...], way: Sequence[tuple[Scalar, Scalar]], decide: Decide
) -> Callable[[int], bool | None]:
    return lambda done: decide({**bad, name: after_swaps(base, way[:done])})


def _with_pairs(order: tuple[Scalar, ...], pairs: Sequence[Before]) -> tuple[Scalar, ...]:
    """The order with each pair put right by moving its first member to just before its second."""
    changed = list(order)
    for _ in range(len(order)):
        wrong = [one for one in pairs if changed.index(one.first) > changed.index(one.second)]
        if not wrong:
            break
        changed.remove(wrong[0].first)
        changed.insert(changed.index(wrong[0].second), wrong[0].first)
    return tuple(changed)


def condition_of(
    parameter: Parameter, bad: Config, good_value: Value, decide: Decide, variant: Variant
) -> tuple[list[Condition], list[Threshold], list[tuple[int, bool]]]:
    """The conditions that one parameter contributes, given a bad configuration and a value with which it passes."""
    if parameter.kind == "integer":
        one, thresholds, points = integer_condition(parameter, bad, as_integer(good_value), decide)
        return [one], thresholds, points
    if parameter.kind == "sequence":
        return list(order_conditions(parameter, bad, as_order(good_value), decide)), [], []
    return [choice_condition(parameter, bad, good_value, decide, variant)], [], []
