"""A threshold that choices alone move, as the causes it consists of: one for each threshold, in conditions that everybody can read.

While it is learned it is one cause, so that what is measured with one choice says where to look with the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wallwatch.domain.lab.conditions import Among, Cause, Range
from wallwatch.domain.lab.device import Config, Scalar, as_scalar, is_same
from wallwatch.domain.lab.evidence import add_evidence
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.moving import Moving, Support
from wallwatch.domain.lab.report import FoundCause, Prediction, Threshold


def separated(judge: Judge, causes: Sequence[FoundCause]) -> list[FoundCause]:
    """The causes, each threshold that only choices move in one of its own. No test is spent."""
    return [part for one in causes for part in _parts(judge, one)]


def _parts(judge: Judge, found: FoundCause) -> Iterator[FoundCause]:
    moving = next((one for one in found.cause.conditions if isinstance(one, Moving)), None)
    if moving is None or not _is_measured(moving):
        yield found
        return
    for first_bad, supports in _by_threshold(moving):
        threshold = _range(moving, first_bad)
        choices = [Among(one.name, values, one.values) for one, values in zip(moving.by, _values(moving, supports), strict=True)]
        rest = [one for one in found.cause.conditions if one is not moving]
        cause = Cause(found.cause.signal, (*rest, *(one for one in choices if one.others), threshold))
        at = {one.name: value for one, value in zip(moving.by, supports[0].at, strict=True)}
        bad: Config = {**found.failing, **at, moving.parameter: first_bad}
        step = moving.main.step if moving.op == ">=" else -moving.main.step
        good: Config = {**bad, moving.parameter: first_bad - step}
        part = replace(
            found,
            cause=cause,
            failing=bad,
            passing=good,
            thresholds=[*_others(found, moving), Threshold(moving.parameter, first_bad - step, first_bad, moving.main.step)],
            predictions=[
                Prediction(one.config, threshold if one.broken == moving else one.broken, one.is_bad)
                for one in found.predictions
                if all(choice.holds(one.config) for choice in choices)
            ],
        )
        add_evidence(judge, part)
        yield part


def _is_measured(moving: Moving) -> bool:
    """Whether choices alone move the threshold, and it was measured with every combination of them."""
    if any(one.kind == "integer" for one in moving.by):
        return False
    combinations = itertools.product(*(one.values for one in moving.by))
    return all(any(_is_at(support, values) for support in moving.supports) for values in combinations)


def _is_at(support: Support, values: Sequence[Scalar]) -> bool:
    return all(is_same(a, b) for a, b in zip(support.at, values, strict=True))


def _by_threshold(moving: Moving) -> list[tuple[int, list[Support]]]:
    """Thresholds within the range, with where they were measured: of one choice all values that share it, of several each combination."""
    inside = [one for one in moving.supports if moving.main.contains(one.first_bad)]
    if len(moving.by) > 1:
        return [(one.first_bad, [one]) for one in inside]
    values = sorted({one.first_bad for one in inside})
    return [(value, [one for one in inside if one.first_bad == value]) for value in values]


def _values(moving: Moving, supports: Sequence[Support]) -> list[list[Scalar]]:
    return [[as_scalar(one.at[i]) for one in supports] for i in range(len(moving.by))]


def _range(moving: Moving, first_bad: int) -> Range:
    return Range(moving.parameter, first_bad, None) if moving.op == ">=" else Range(moving.parameter, None, first_bad)


def _others(found: FoundCause, moving: Moving) -> list[Threshold]:
    return [one for one in found.thresholds if one.parameter != moving.parameter]
