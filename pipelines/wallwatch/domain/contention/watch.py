"""What one minute of a card's measurements says about its functions: measured against predicted, SLAs now, SLAs within the hour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil

from wallwatch.domain.contention.card import Card, Occupant, Outlook, Traffic
from wallwatch.domain.contention.drift import ahead, trend

KEEPS_UP = 0.99
"""A function that processes this share of what arrives keeps up; the two counters are not read at the same moment."""
STEP_MIN = 5
"""Minutes between the moments at which the coming hour is predicted."""


class Kind(StrEnum):
    """Why a function is worth reporting."""

    SLOWER = "slower"
    """It gets less than predicted although more arrives: the model is stale, or something else takes it."""
    FASTER = "faster"
    """It gets more than predicted: the model is stale."""
    BROKEN = "broken"
    """It loses more than its SLA allows."""
    DRIFT = "drift"
    """Its SLA will be broken within the horizon if traffic goes on as it does."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One function in one minute. `history` has its traffic of the last minutes, this one included, one value per minute."""

    occupant: Occupant
    throughput: float | None
    """kpps; None: unknown."""
    saturated: bool | None
    """More arrives than it processes; None: unknown."""
    most_drop: float | None
    history: tuple[Traffic, ...] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """`value` and `bound` are shares: of the prediction for a deviation, of the solo throughput for a drop."""

    kind: Kind
    function: str
    value: float
    bound: float
    measured: float | None
    predicted: float
    bottleneck: str | None
    in_min: int | None = None
    """When the SLA breaks, for a drift."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Thresholds of the rule."""

    deviation: float
    horizon_min: float
    trend_min: float
    trend_errors: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """Of one minute of a card. `errors` has, for each function whose prediction was put to the test, measured / predicted - 1."""

    reasons: list[Reason]
    errors: dict[int, float]


def reasons(functions: Sequence[Measured], limits: Limits) -> list[Reason]:
    """What is worth reporting of this minute; how long it has to last is not decided here."""
    return judge(functions, limits).reasons


def judge(functions: Sequence[Measured], limits: Limits) -> Judgement:
    """Compare a minute with the models.

    A function whose model cannot say (traffic outside of its training range, unknown load of a competitor) is not compared with its
    measurement: the difference would be the model's ignorance. One that processes all that arrives does not test its model.
    """
    card = Card([each.occupant for each in functions])
    outlooks = [card.outlook(at) if each.occupant.model is not None else None for at, each in enumerate(functions)]
    found = [
        reason
        for each, outlook in zip(functions, outlooks, strict=True)
        if outlook is not None
        for reason in (_deviation(each, outlook, limits), _broken(each, outlook))
        if reason is not None
    ]
    broken = {reason.function for reason in found if reason.kind is Kind.BROKEN}
    found += [reason for reason in _drift(functions, limits) if reason.function not in broken]
    errors = {
        at: share
        for at, (each, outlook) in enumerate(zip(functions, outlooks, strict=True))
        if outlook is not None and each.saturated and (share := share_of_prediction(each, outlook)) is not None
    }
    return Judgement(found, errors)


def share_of_prediction(each: Measured, outlook: Outlook) -> float | None:
    """Measured / predicted - 1; None where they cannot be compared."""
    predicted = min(outlook.throughput, each.occupant.offered)  # nothing can be processed that does not arrive
    if each.throughput is None or outlook.outside or outlook.unknown or predicted <= 0:
        return None
    return each.throughput / predicted - 1.0


def _deviation(each: Measured, outlook: Outlook, limits: Limits) -> Reason | None:
    share = share_of_prediction(each, outlook)
    if share is None:
        return None
    predicted = min(outlook.throughput, each.occupant.offered)
    if share > limits.deviation:
        kind = Kind.FASTER
    elif share < -limits.deviation and each.saturated:
        kind = Kind.SLOWER
    else:
        return None
    return Reason(kind, each.occupant.name, share, limits.deviation, each.throughput, predicted, outlook.bottleneck)


def _broken(each: Measured, outlook: Outlook) -> Reason | None:
    if each.most_drop is None:
        return None
    drop = outlook.drop
    if each.saturated and each.throughput is not None:
        drop = 1.0 - each.throughput / outlook.solo  # what is measured is better than what is predicted
    elif not each.saturated:
        return None  # it processes all that arrives, so nothing is lost
    if drop <= each.most_drop:
        return None
    return Reason(Kind.BROKEN, each.occupant.name, drop, each.most_drop, each.throughput, outlook.throughput, outlook.bottleneck)


def _drift(functions: Sequence[Measured], limits: Limits) -> list[Reason]:
    """The first moment within the horizon at which each SLA breaks; only where some traffic has a trend."""
    changes = [trend(each.history, limits.trend_errors) if len(each.history) >= limits.trend_min else (0.0, 0.0, 0.0) for each in functions]
    watched = [at for at, each in enumerate(functions) if each.most_drop is not None and each.occupant.model is not None]
    if not watched or not any(any(change) for change in changes):
        return []
    found: dict[int, Reason] = {}
    before = _drops(functions, watched, lambda at: functions[at].occupant.traffic)
    for step in range(1, ceil(limits.horizon_min / STEP_MIN) + 1):
        minutes = step * STEP_MIN

        def then(at: int, minutes: int = minutes) -> Traffic:
            return ahead(functions[at].occupant.traffic, changes[at], minutes)

        for at, outlook in _drops(functions, [at for at in watched if at not in found], then).items():
            most = functions[at].most_drop
            if most is not None and outlook.drop > most >= before[at].drop:
                found[at] = Reason(
                    Kind.DRIFT, functions[at].occupant.name, outlook.drop, most, None, outlook.throughput, outlook.bottleneck, minutes
                )
    return list(found.values())


def _drops(functions: Sequence[Measured], wanted: Sequence[int], traffic_of: Callable[[int], Traffic]) -> dict[int, Outlook]:
    card = Card([replace(each.occupant, traffic=traffic_of(at)) for at, each in enumerate(functions)])
    return {at: card.outlook(at) for at in wanted}
