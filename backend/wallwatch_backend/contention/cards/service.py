"""Cards with functions: newest samples, grouped."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any

from sqlalchemy import Row

from wallwatch.domain.contention.counters import COUNTER_NAMES
from wallwatch.domain.contention.watch import KEEPS_UP
from wallwatch_backend.contention.cards import repository
from wallwatch_backend.contention.cards.schemas import NfCard, RunningFunction
from wallwatch_backend.contention.predictions.schemas import OwnCounters
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession

FRESH = timedelta(minutes=5)
"""A function that was not measured for so long does not run any more."""
MOST = 20_000
_SAME_NAME = ("cores", "cpu_share", "flows", "packet_bytes", "mtbr", "throughput_kpps", "offered_kpps", "host_limits")


async def list_cards(session: ReadSession) -> list[NfCard]:
    rows = await repository.newest(session, clock.now() - FRESH, MOST)
    return [_card(list(group)) for _, group in groupby(rows, lambda row: (row.host, row.pci))]


def _card(rows: Sequence[Row[Any]]) -> NfCard:
    first = rows[0]
    names = Counter(_name(row) for row in rows)
    functions = [_running(row, unique=names[_name(row)] == 1) for row in rows]
    return NfCard(
        host=first.host,
        pci=first.pci,
        model=first.model,
        fw_ver=first.fw_ver,
        cores_used=sum(function.cores or 0.0 for function in functions),
        functions=functions,
    )


def _name(row: Row[Any]) -> str:
    return str(row.pod or row.container or row.function)


def _running(row: Row[Any], unique: bool) -> RunningFunction:
    counters = [getattr(row, name) for name in COUNTER_NAMES]
    measured = None if None in counters else OwnCounters.model_construct(**dict(zip(COUNTER_NAMES, counters, strict=True)))
    saturated = None
    if row.throughput_kpps is not None and row.offered_kpps is not None:
        saturated = bool(row.throughput_kpps < KEEPS_UP * row.offered_kpps)
    return RunningFunction(
        name=_name(row) if unique else f"{_name(row)}/{row.function}-{row.container}",
        function=row.function,
        container=row.container,
        pod=row.pod or None,
        at=row.at,
        counters=measured,
        saturated=saturated,
        **{name: getattr(row, name) for name in _SAME_NAME},
    )
