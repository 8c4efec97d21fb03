"""Queries of the exposition: each big one is read through a cursor of the server, in batches, so that the fleet is never in memory."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import Double, Select, case, cast, column, func, select, table

from wallwatch.domain.forecast.wall_chance import LIKELY_FROM
from wallwatch.store.tables import dead_letter_count, rnic, rnic_forecast, rnic_state
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession

_BATCH = 2000
FORECAST_HOLDS = timedelta(minutes=15)
"""There is a forecast every minute; an older one is about an hour that has partly passed."""
_s = rnic_state.c
# Only counts of incidents are read here, so no model of that context is imported.
_incident = table("incident", column("state"), column("severity"))

Batch = Sequence[Sequence[Any]]


async def one_snapshot(session: ReadSession) -> None:
    """Let all later queries of this session see the fleet at one moment."""
    await session.one_transaction("REPEATABLE READ")


async def _batches(session: ReadSession, query: Select[Any], rack: str | None) -> AsyncIterator[Batch]:
    if rack is not None:
        query = query.where(_s.rack == rack)
    result = await session.stream(query, execution_options={"yield_per": _BATCH})
    try:
        async for batch in result.partitions():
            yield batch
    finally:
        await result.close()


def identities(session: ReadSession, rack: str | None) -> AsyncIterator[Batch]:
    """host, pci, rack, model, driver, fw_ver of each RNIC."""
    query = select(_s.host, _s.pci, _s.rack, _s.model, rnic.c.driver, rnic.c.fw_ver).outerjoin(rnic, rnic.c.rnic_id == _s.rnic_id)
    return _batches(session, query, rack)


def _active_symptoms() -> tuple[Any, Any]:
    """The lateral rows of `symptoms`, and the condition that one is active: a cleared one stays for a while."""
    each = func.jsonb_each(_s.symptoms).table_valued("key", "value")
    return each, each.c.value.op("->>")("until").is_(None)


def active_symptoms(session: ReadSession, rack: str | None) -> AsyncIterator[Batch]:
    """host, pci, symptom of each active symptom."""
    each, active = _active_symptoms()
    return _batches(session, select(_s.host, _s.pci, each.c.key).select_from(rnic_state.join(each, active)), rack)


def headrooms(session: ReadSession, rack: str | None) -> AsyncIterator[Batch]:
    """host, pci, wall, headroom of each wall that was measured."""
    walls = case((func.jsonb_typeof(_s.walls) == "object", _s.walls))
    each = func.jsonb_each(walls).table_valued("key", "value")
    headroom = cast(each.c.value.op("->>")("headroom"), Double)
    return _batches(session, select(_s.host, _s.pci, each.c.key, headroom).select_from(rnic_state.join(each, headroom.is_not(None))), rack)


def wall_chances(session: ReadSession, rack: str | None) -> AsyncIterator[Batch]:
    """host, pci, wall, chance of each RNIC that is at a limit or likely to reach one, by a forecast that still holds."""
    f = rnic_forecast.c
    query = (
        select(_s.host, _s.pci, f.next_wall, f.wall_chance)
        .select_from(rnic_state.join(rnic_forecast, f.rnic_id == _s.rnic_id))
        .where(f.wall_chance >= LIKELY_FROM, f.made_at >= clock.now() - FORECAST_HOLDS)
    )
    return _batches(session, query, rack)


def wall_times(session: ReadSession, rack: str | None) -> AsyncIterator[Batch]:
    """host, pci, wall, seconds until each RNIC that is likely to reach a limit does so."""
    f = rnic_forecast.c
    query = (
        select(_s.host, _s.pci, f.next_wall, f.likely_in_s)
        .select_from(rnic_state.join(rnic_forecast, f.rnic_id == _s.rnic_id))
        .where(f.likely_in_s.is_not(None), f.next_wall.is_not(None), f.made_at >= clock.now() - FORECAST_HOLDS)
    )
    return _batches(session, query, rack)


def declines(session: ReadSession, rack: str | None) -> AsyncIterator[Batch]:
    """host, pci, share of the bandwidth that each RNIC with a predicted decline loses."""
    f = rnic_forecast.c
    query = (
        select(_s.host, _s.pci, f.decline_share)
        .select_from(rnic_state.join(rnic_forecast, f.rnic_id == _s.rnic_id))
        .where(f.decline_since.is_not(None), f.decline_share.is_not(None), f.made_at >= clock.now() - FORECAST_HOLDS)
    )
    return _batches(session, query, rack)


def last_samples(session: ReadSession, rack: str | None) -> AsyncIterator[Batch]:
    """host, pci, seconds since 1970 of the newest sample of each RNIC."""
    return _batches(session, select(_s.host, _s.pci, cast(func.extract("epoch", _s.seen_at), Double)).where(_s.seen_at.is_not(None)), rack)


async def symptom_counts(session: ReadSession, rack: str | None) -> dict[str, int]:
    each, active = _active_symptoms()
    query = select(each.c.key, func.count()).select_from(rnic_state.join(each, active)).group_by(each.c.key)
    if rack is not None:
        query = query.where(_s.rack == rack)
    return {row[0]: row[1] for row in await session.execute(query)}


async def refused_counts(session: ReadSession) -> dict[str, tuple[int, float]]:
    """Reason -> messages refused for it, and the time of the last one in seconds since 1970."""
    last = cast(func.extract("epoch", func.max(dead_letter_count.c.last_at)), Double)
    query = select(dead_letter_count.c.reason, func.sum(dead_letter_count.c["count"]), last).group_by(dead_letter_count.c.reason)
    return {row[0]: (int(row[1]), row[2]) for row in await session.execute(query)}


async def incident_counts(session: ReadSession) -> dict[tuple[str, str], int]:
    query = select(_incident.c.state, _incident.c.severity, func.count()).group_by(_incident.c.state, _incident.c.severity)
    return {(row[0], row[1]): row[2] for row in await session.execute(query)}
