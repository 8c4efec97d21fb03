"""Answers how a card's functions came to where they are, where they go, and which cards of the fleet are close to an SLA."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from math import exp, inf
from statistics import fmean
from typing import Any

from sqlalchemy import Row

from wallwatch.domain.catalogue.contention import contention_rule
from wallwatch.domain.contention.card import Occupant, Traffic
from wallwatch.domain.contention.counters import COUNTER_NAMES, Counters
from wallwatch.domain.contention.course import changes, coming, moments, nearest
from wallwatch.domain.contention.own_load import OwnLoad
from wallwatch.domain.contention.watch import KEEPS_UP, Limits, Measured
from wallwatch_backend.contention.cards import repository as cards
from wallwatch_backend.contention.cards.service import FRESH, MOST
from wallwatch_backend.contention.courses import repository
from wallwatch_backend.contention.courses.schemas import (
    CardCourse,
    CardHeadroom,
    CardHeadrooms,
    ComingPoint,
    FunctionCourse,
    PastPoint,
    TrafficTrend,
)
from wallwatch_backend.contention.models import present
from wallwatch_backend.contention.models import repository as models
from wallwatch_backend.contention.models.models import NfModelVersionRow
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import NotFound

HOURS = 2.0
STEP_MIN = 5
"""The past shows one minute of each five: more points tell no more, and each is a prediction."""
_USUAL_BYTES = 1518.0

Key = tuple[str, str]
"""Function and container."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Active versions by function, card model and firmware; SLAs by function."""

    versions: Mapping[tuple[str, str, str], NfModelVersionRow]
    sla_drops: Mapping[str, float | None]

    def version(self, function: str, model: str, firmware: str) -> NfModelVersionRow | None:
        return self.versions.get((function, model, firmware)) or self.versions.get((function, model, ""))


async def course(session: ReadSession, host: str, pci: str) -> CardCourse:
    card = await repository.card(session, host, pci)
    if card is None:
        raise NotFound(f"No telemetry from RNIC {pci} of host {host} has been received.")
    rows = await repository.minutes(session, host, pci, clock.now() - timedelta(hours=HOURS))
    known = await _known(session, (row.function for row in rows))
    functions = await asyncio.to_thread(_courses, rows, known, card.model, card.fw_ver)
    return CardCourse(host=host, pci=pci, hours=HOURS, functions=functions)


async def headrooms(session: ReadSession) -> CardHeadrooms:
    rows = await cards.newest(session, clock.now() - FRESH, MOST)
    known = await _known(session, (row.function for row in rows))
    return CardHeadrooms(items=await asyncio.to_thread(_headrooms, rows, known))


async def _known(session: ReadSession, functions: Iterable[str]) -> _Known:
    versions = await repository.active(session, functions)
    terms = await models.terms(session)
    return _Known(versions, {name: present.terms(row).sla_drop for name, row in terms.items()})


def _headrooms(rows: Sequence[Row[Any]], known: _Known) -> list[CardHeadroom]:
    by_card = [list(group) for _, group in groupby(rows, lambda row: (row.host, row.pci))]
    measured = [_card(card, known, card[0].model or "", card[0].fw_ver or "") for card in by_card]
    return [
        CardHeadroom(
            host=card[0].host, pci=card[0].pci, function=found.name, loss=found.loss, sla_drop=found.most_drop, headroom=found.headroom
        )
        for card, found in zip(by_card, nearest(measured), strict=True)
        if found is not None
    ]


def _courses(rows: Sequence[Row[Any]], known: _Known, model: str, firmware: str) -> list[FunctionCourse]:
    past: dict[Key, list[PastPoint]] = defaultdict(list)
    histories: dict[Key, list[tuple[int, Traffic]]] = defaultdict(list)
    for row in rows:
        if row.flows is not None:
            histories[row.function, row.container].append((row.minute, _traffic(row)))
    latest: dict[Key, Row[Any]] = {}
    for _, group in groupby(rows, lambda row: row.minute // STEP_MIN):
        last: dict[Key, Row[Any]] = {(row.function, row.container): row for row in group}
        latest.update(last)
        card = _card(list(last.values()), known, model, firmware)
        for row, each, moment in zip(last.values(), card, moments(card), strict=True):
            past[row.function, row.container].append(
                PastPoint(
                    at=datetime.fromtimestamp(row.minute * 60, UTC),
                    flows=row.flows,
                    packet_bytes=row.packet_bytes,
                    mtbr=row.mtbr,
                    measured_kpps=each.throughput,
                    offered_kpps=row.offered_kpps,
                    predicted_kpps=None if moment is None else moment.predicted,
                    predicted_loss=None if moment is None else moment.predicted_loss,
                    loss=None if moment is None else moment.loss,
                    error=None if moment is None else moment.error,
                )
            )
    end = max((row.minute for row in latest.values()), default=0)
    running = [row for row in latest.values() if row.minute > end - STEP_MIN]
    return _with_what_comes(running, past, histories, known, model, firmware)


def _with_what_comes(
    newest: Sequence[Row[Any]],
    past: Mapping[Key, list[PastPoint]],
    histories: Mapping[Key, list[tuple[int, Traffic]]],
    known: _Known,
    model: str,
    firmware: str,
) -> list[FunctionCourse]:
    """Courses of the functions that still run."""
    rule = contention_rule()
    limits = Limits(rule.deviation, rule.horizon_min, rule.trend_min, rule.trend_errors)
    oldest = max((row.minute for row in newest), default=0) - int(rule.history_min)
    recent = {key: tuple(traffic for minute, traffic in history if minute > oldest) for key, history in histories.items()}
    card = _card(newest, known, model, firmware, recent)
    courses = []
    for row, each, change, points in zip(newest, card, changes(card, limits), coming(card, limits), strict=True):
        before = past[row.function, row.container]
        version, most = known.version(row.function, model, firmware), each.most_drop
        kept = most is not None and before[-1].predicted_loss is not None and before[-1].predicted_loss <= most
        errors = [abs(point.error) for point in before if point.error is not None]
        courses.append(
            FunctionCourse(
                name=each.occupant.name,
                function=row.function,
                version=None if version is None else version.number,
                model_mape=None if version is None else float(version.card["cross_validation"]["mape"]),
                recent_mape=100 * fmean(errors) if errors else None,
                sla_drop=most,
                trend=_trend(change),
                breaks_in_min=next((point.in_min for point in points if most is not None and point.loss > most), None) if kept else None,
                past=before,
                coming=[
                    ComingPoint(
                        in_min=point.in_min,
                        flows=point.traffic.flows,
                        packet_bytes=point.traffic.packet_bytes,
                        mtbr=point.traffic.mtbr,
                        predicted_kpps=point.predicted,
                        loss=point.loss,
                    )
                    for point in points
                ],
            )
        )
    return courses


def _trend(change: tuple[float, float, float]) -> TrafficTrend | None:
    flows, packet_bytes, matches = (60 * each for each in change)
    if not any(change):
        return None
    return TrafficTrend(flows_factor=exp(min(flows, 50.0)), packet_bytes_factor=exp(min(packet_bytes, 50.0)), mtbr_change=matches)


def _card(
    rows: Sequence[Row[Any]], known: _Known, model: str, firmware: str, histories: Mapping[Key, tuple[Traffic, ...]] | None = None
) -> list[Measured]:
    """The functions of one card; names are unique on it."""
    names = Counter(_name(row) for row in rows)

    def measured(row: Row[Any]) -> Measured:
        name = _name(row) if names[_name(row)] == 1 else f"{_name(row)}/{row.function}-{row.container}"
        history = (histories or {}).get((row.function, row.container), ())
        return _measured(row, name, known.version(row.function, model, firmware), known.sla_drops.get(row.function), history)

    return [measured(row) for row in rows]


def _measured(
    row: Row[Any], name: str, version: NfModelVersionRow | None, most_drop: float | None, history: tuple[Traffic, ...]
) -> Measured:
    counters = [getattr(row, counter) for counter in COUNTER_NAMES]
    load = None if None in counters else Counters(*map(float, counters))
    if load is None and version is not None and version.own_load is not None and row.flows is not None:
        load = OwnLoad.from_json(version.own_load).at(row.flows)
    saturated = None
    if row.throughput_kpps is not None and row.offered_kpps is not None:
        saturated = row.throughput_kpps < KEEPS_UP * row.offered_kpps
    predicted = None if version is None or row.flows is None else present.loaded(version.model)
    offered = inf if row.offered_kpps is None else row.offered_kpps
    return Measured(Occupant(name, _traffic(row), predicted, load, offered=offered), row.throughput_kpps, saturated, most_drop, history)


def _traffic(row: Row[Any]) -> Traffic:
    packet_bytes = _USUAL_BYTES if row.packet_bytes is None else row.packet_bytes
    return Traffic(max(row.flows or 1.0, 1.0), packet_bytes, max(row.mtbr or 0.0, 0.0))


def _name(row: Row[Any]) -> str:
    return str(row.pod or row.container or row.function)
