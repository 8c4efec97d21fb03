"""A card over time: what its functions lost by measurement and by model, and what they will lose if their traffic goes on as it does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wallwatch.domain.contention.card import Card, Outlook, Traffic, headroom
from wallwatch.domain.contention.drift import ahead, trend
from wallwatch.domain.contention.function_model import FunctionModel
from wallwatch.domain.contention.watch import Limits, Measured, share_of_prediction

AHEAD_STEP_MIN = 10


@dataclass(frozen=True, slots=True)
class Moment:
    """One function at one moment; rates in kpps, shares of one."""

    predicted: float
    solo: float
    predicted_loss: float
    loss: float
    """By which its headroom is judged: measured where less is processed than arrives, else predicted."""
    error: float | None
    """Measured / predicted - 1; None where the model is not put to the test."""


@dataclass(frozen=True, slots=True)
class Coming:
    """One function in the future."""

    in_min: int
    traffic: Traffic
    predicted: float
    loss: float


@dataclass(frozen=True, slots=True)
class Nearest:
    """The function of a card that is closest to its SLA, or furthest beyond it."""

    name: str
    loss: float
    most_drop: float

    @property
    def headroom(self) -> float:
        return headroom(self.loss, self.most_drop)


def judged_loss(each: Measured, predicted_drop: float, solo: float) -> float:
    """The share of its solo throughput that counts against its SLA: what is measured is better than what is predicted."""
    if each.saturated and each.throughput is not None:
        return max(1.0 - each.throughput / solo, 0.0)
    return predicted_drop


def moments(functions: Sequence[Measured]) -> list[Moment | None]:
    """What measurement and model say of each function; None where there is no model."""
    card = Card([each.occupant for each in functions])
    return [None if each.occupant.model is None else _moment(each, card.outlook(at)) for at, each in enumerate(functions)]


def _moment(each: Measured, outlook: Outlook) -> Moment:
    tested = share_of_prediction(each, outlook) if each.saturated else None
    return Moment(outlook.throughput, outlook.solo, outlook.drop, judged_loss(each, outlook.drop, outlook.solo), tested)


def changes(functions: Sequence[Measured], limits: Limits) -> list[tuple[float, float, float]]:
    """Change per minute of log flows, log packet size and matches of each function; zeros where there is no trend."""
    return [trend(each.history, limits.trend_errors) if len(each.history) >= limits.trend_min else (0.0, 0.0, 0.0) for each in functions]


def coming(functions: Sequence[Measured], limits: Limits) -> list[list[Coming]]:
    """What each function will get within the horizon if all traffic of the card goes on as it does; empty where there is no model.

    Without a trend of any function everything stays as it is, and all lists are empty.
    """
    found: list[list[Coming]] = [[] for _ in functions]
    grows = changes(functions, limits)
    if not any(any(change) for change in grows):
        return found
    for minutes in range(AHEAD_STEP_MIN, int(limits.horizon_min) + 1, AHEAD_STEP_MIN):
        then = [ahead(each.occupant.traffic, change, minutes) for each, change in zip(functions, grows, strict=True)]
        card = Card([replace(each.occupant, traffic=traffic) for each, traffic in zip(functions, then, strict=True)])
        for at, each in enumerate(functions):
            if each.occupant.model is not None:
                outlook = card.outlook(at)
                found[at].append(Coming(minutes, then[at], outlook.throughput, outlook.drop))
    return found


def nearest(cards: Sequence[Sequence[Measured]]) -> list[Nearest | None]:
    """Of each card; None where no function has both a model and an SLA.

    Models predict the functions of all cards at once: a fleet has thousands.
    """
    rows: dict[int, list[list[float]]] = defaultdict(list)
    models: dict[int, FunctionModel] = {}
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, functions in enumerate(cards):
        card = Card([each.occupant for each in functions])
        for at, each in enumerate(functions):
            model = each.occupant.model
            if model is not None and each.most_drop is not None:
                models[id(model)] = model
                rows[id(model)].append(card.query(at))
                places[id(model)].append((number, at))
    found: list[Nearest | None] = [None] * len(cards)
    for key, model in models.items():
        queries = np.array(rows[key])
        solo = model.alone(queries)
        drops = np.maximum(1.0 - model.throughput(queries) / solo, 0.0)
        for (number, at), alone, drop in zip(places[key], solo.tolist(), drops.tolist(), strict=True):
            each, known = cards[number][at], found[number]
            mine = Nearest(each.occupant.name, judged_loss(each, drop, alone), each.most_drop or 0.0)
            if known is None or (mine.headroom, mine.name) < (known.headroom, known.name):
                found[number] = mine
    return found
