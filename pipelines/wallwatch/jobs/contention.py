"""Network functions of cards, once per minute inside the job `forecast`: measured against predicted, and SLAs within the hour.

`domain/contention/watch` judges a minute, `domain/symptoms/contention` decides how long it has to last. Models and SLAs are read from the
store each minute; a model is loaded once. State may be lost: a restarted process reads the history back and continues its findings.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict, deque
from itertools import groupby
from math import inf
from typing import Any
from uuid import UUID

import orjson
import psycopg
from confluent_kafka import Producer

from wallwatch.domain.catalogue.contention import contention_rule
from wallwatch.domain.contention.card import Occupant, Traffic
from wallwatch.domain.contention.counters import Counters
from wallwatch.domain.contention.function_model import BadModel, FunctionModel
from wallwatch.domain.contention.own_load import OwnLoad
from wallwatch.domain.contention.watch import KEEPS_UP, Limits, Measured, judge
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.symptoms.contention import MINUTE_MS, SYMPTOM, Life, forget, step
from wallwatch.jobs import kafka
from wallwatch.jobs.metrics import FINDINGS, FUNCTION_ERROR
from wallwatch.store import functions as store

log = logging.getLogger(__name__)

TOPIC = "wallwatch.findings"
_DEFAULT_PACKET = 1518.0

CardKey = tuple[str, str]


class Models:
    """The active models, loaded once each."""

    def __init__(self) -> None:
        self._active: dict[tuple[str, str, str], store.ActiveModel] = {}
        self._loaded: dict[UUID, FunctionModel | None] = {}
        self.sla_drops: dict[str, float] = {}

    def follow(self, connection: psycopg.Connection[Any]) -> None:
        self._active = store.active_models(connection)
        self.sla_drops = store.sla_drops(connection)
        wanted = {active.id for active in self._active.values()}
        self._loaded = {id: model for id, model in self._loaded.items() if id in wanted}
        for id in wanted - self._loaded.keys():
            self._loaded[id] = _load(id, store.model_text(connection, id))

    @property
    def any(self) -> bool:
        return bool(self._active)

    def of(self, seen: store.FunctionMinute) -> tuple[FunctionModel | None, OwnLoad | None]:
        """Model and own load of a function on its card: of the card's firmware, else of all."""
        active = self._active.get((seen.function, seen.model, seen.firmware)) or self._active.get((seen.function, seen.model, ""))
        if active is None:
            return None, None
        return self._loaded.get(active.id), None if active.own_load is None else OwnLoad.from_json(active.own_load)


def _load(id: UUID, text: str | None) -> FunctionModel | None:
    try:
        return None if text is None else FunctionModel.from_json(orjson.loads(text))
    except (BadModel, KeyError, TypeError, ValueError) as problem:
        log.error("the model %s cannot be used, its functions are not watched: %s", id, problem)
        return None


class ContentionWatch:
    """All cards with functions."""

    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._models = Models()
        self._lives: dict[CardKey, Life] = {}
        self._history: dict[tuple[str, str, str, str], deque[tuple[int, Traffic]]] = defaultdict(deque)
        self._done: int | None = None

    def step(self, connection: psycopg.Connection[Any], minute: int) -> int:
        """Judge the minutes since the last call; returns how many messages were sent."""
        rule = contention_rule()
        self._models.follow(connection)
        if not self._models.any and not self._lives and self._done is not None:
            self._done = minute
            return 0
        if self._done is None:
            self._resume(connection)
        oldest = minute - int(rule.history_min) + 1
        seen = store.minutes(connection, oldest if self._done is None else max(self._done + 1, oldest), minute)
        sent = 0
        for (at, host, pci), group in groupby(seen, lambda each: (each.minute, each.host, each.pci)):
            card = list(group)
            self._remember(card, oldest)
            if self._done is not None or at == minute:  # the first call reads the history only
                sent += self._judge((host, pci), at, card)
        for key, life in list(self._lives.items()):
            sent += self._send(key, forget(life, minute))
            if life.started_ms is None and minute - life.last_minute >= rule.forgotten_min:
                del self._lives[key]
        self._done = minute
        return sent

    def _resume(self, connection: psycopg.Connection[Any]) -> None:
        """Go on with the findings that are active in the store: a previous process raised them."""
        for found in store.lasting(connection, SYMPTOM, contention_rule().rule):
            life = Life({"host": found.host, "pci": found.pci, "rack": found.rack}, Identity(found.model, found.driver, found.firmware))
            life.started_ms, life.reason_minute = found.started_ms, found.at_ms // MINUTE_MS
            self._lives[found.host, found.pci] = life

    def _remember(self, card: list[store.FunctionMinute], oldest: int) -> None:
        for each in card:
            if each.flows is None:
                continue
            history = self._history[each.host, each.pci, each.function, each.container]
            history.append((each.minute, _traffic(each)))
            while history and history[0][0] < oldest:
                history.popleft()

    def _judge(self, key: CardKey, minute: int, card: list[store.FunctionMinute]) -> int:
        rule = contention_rule()
        limits = Limits(rule.deviation, rule.horizon_min, rule.trend_min, rule.trend_errors)
        first = card[0]
        life = self._lives.get(key)
        if life is None:
            subject = {"host": first.host, "pci": first.pci, "rack": first.rack}
            life = self._lives[key] = Life(subject, Identity(first.model, first.driver, first.firmware))
        judged = judge(self._measured(card), limits)
        for at, error in judged.errors.items():
            FUNCTION_ERROR.labels(card[at].function).observe(abs(error))
        return self._send(key, step(life, minute, judged.reasons))

    def _measured(self, card: list[store.FunctionMinute]) -> list[Measured]:
        names = Counter(_name(each) for each in card)

        def unique(each: store.FunctionMinute) -> str:
            return _name(each) if names[_name(each)] == 1 else f"{_name(each)}/{each.function}-{each.container}"

        return [self._one(each, unique(each)) for each in card]

    def _one(self, seen: store.FunctionMinute, name: str) -> Measured:
        model, own_load = self._models.of(seen)
        traffic = _traffic(seen)
        counters = None if seen.counters is None else Counters(*seen.counters)
        if counters is None and own_load is not None and seen.flows is not None:
            counters = own_load.at(seen.flows)
        saturated = None
        if seen.throughput is not None and seen.offered is not None:
            saturated = seen.throughput < KEEPS_UP * seen.offered
        history = self._history.get((seen.host, seen.pci, seen.function, seen.container), ())
        return Measured(
            Occupant(
                name, traffic, model if seen.flows is not None else None, counters, offered=inf if seen.offered is None else seen.offered
            ),
            seen.throughput,
            saturated,
            self._models.sla_drops.get(seen.function),
            tuple(each for _, each in history),
        )

    def _send(self, key: CardKey, findings: list[dict[str, Any]]) -> int:
        for finding in findings:
            FINDINGS.labels(finding["symptom"], finding["state"]).inc()
            kafka.produce(self._producer, TOPIC, key[0], orjson.dumps(finding))
        return len(findings)


def _traffic(seen: store.FunctionMinute) -> Traffic:
    return Traffic(
        max(seen.flows or 1.0, 1.0), _DEFAULT_PACKET if seen.packet_bytes is None else seen.packet_bytes, max(seen.mtbr or 0.0, 0.0)
    )


def _name(seen: store.FunctionMinute) -> str:
    return seen.pod or seen.container or seen.function
