"""Queries of forecasts."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ARRAY, BigInteger, Double, Row, Text, and_, case, cast, column, false, func, literal, not_, or_, select, true, tuple_

from wallwatch.domain.forecast.targets import HORIZONS_MIN
from wallwatch.store.tables import forecast, forecast_model, forecast_model_change, rnic, rnic_forecast
from wallwatch_backend.kit.database import ReadSession

MOST_PAST = 2000
MOST_CHANGES = 100
NEIGHBOUR = timedelta(minutes=10)
"""Forecasts may be stored less often than they are computed; those further away do not show the value at a time."""
HORIZON_S = 60.0 * HORIZONS_MIN[-1]
"""A decline whose time is unknown comes at some time within the hour."""
_FAR = 10_000_000
"""Past every horizon in milliseconds: walls that are not likely sort after all that are, the highest chance first."""


async def newest(session: ReadSession, rnic_id: int) -> Row[Any] | None:
    return (await session.execute(select(rnic_forecast).where(rnic_forecast.c.rnic_id == rnic_id))).one_or_none()


def _order(sort: Literal["time_to_wall", "decline"]) -> Any:
    f = rnic_forecast.c
    if sort == "decline":
        return cast(-1_000_000 * func.coalesce(f.decline_share, 0.0), BigInteger)
    unlikely = _FAR - 1_000_000 * func.coalesce(f.wall_chance, 0.0)
    return cast(case((f.likely_in_s.is_(None), unlikely), else_=f.likely_in_s * 1000), BigInteger)


def _expected(within_s: float) -> Any:
    """At a limit now, or likely to reach one within a time: walls that are not likely have no likely time."""
    return func.coalesce(rnic_forecast.c.likely_in_s <= within_s, false())


def _declines(within_s: float) -> Any:
    f = rnic_forecast.c
    return and_(f.decline_since.is_not(None), func.coalesce(f.decline_in_s, HORIZON_S) <= within_s)


def _place(wall: str | None, rack: str | None, model: str | None) -> list[Any]:
    wanted = ((rnic_forecast.c.next_wall, wall), (rnic.c.rack, rack), (rnic.c.model, model))
    return [column == value for column, value in wanted if value is not None]


async def fleet(
    session: ReadSession,
    *,
    within_s: float,
    expected: bool,
    wall: str | None,
    rack: str | None,
    model: str | None,
    declining: bool | None,
    since: datetime,
    sort: Literal["time_to_wall", "decline"],
    after: tuple[int, str, str] | None,
    limit: int,
) -> list[Any]:
    """RNICs that are expected to reach a wall within a time, or all others, or those with a decline; newest forecasts only."""
    f, r = rnic_forecast.c, rnic.c
    order = _order(sort)
    short: list[Any] = [column for column in f if column.name != "body"]  # the message is long, and a list has hundreds of rows
    query = (
        select(*short, r.host, r.pci, r.rack, r.model, order.label("sort_key"))
        .join(rnic, r.rnic_id == f.rnic_id)
        .where(f.made_at >= since)
        .order_by(order, r.host, r.pci)
        .limit(limit)
    )
    reached = _expected(within_s)
    declines = _declines(within_s)
    if declining is True:
        query = query.where(declines)
    elif not expected:
        query = query.where(not_(reached))
    elif sort == "decline":
        query = query.where(reached | declines)
    else:
        query = query.where(reached)
    if declining is False:
        query = query.where(f.decline_since.is_(None))
    query = query.where(*_place(wall, rack, model))
    if after is not None:
        query = query.where(tuple_(order, r.host, r.pci) > after)
    return list((await session.execute(query)).all())


async def with_chance(session: ReadSession, least: float, since: datetime) -> list[Any]:
    """RNICs whose newest forecast has at least this chance of a wall within the hour, or that are at a limit."""
    f = rnic_forecast.c
    short = (f.made_at, f.next_wall, f.wall_chance, f.earliest_in_s, f.likely_in_s, f.latest_in_s)
    query = select(*short, rnic.c.host, rnic.c.pci, rnic.c.rack, rnic.c.model).join(rnic, rnic.c.rnic_id == f.rnic_id)
    return list((await session.execute(query.where(f.made_at >= since, f.wall_chance >= least))).all())


async def with_decline(session: ReadSession, known: Collection[tuple[str, str]], since: datetime) -> list[Any]:
    """RNICs with a predicted decline, and the known ones (host, pci) whatever their newest forecast has."""
    f, r = rnic_forecast.c, rnic.c
    short = (f.made_at, f.cold_start, f.confidence, f.wall_chance, f.decline_share, f.decline_since, f.decline_in_s)
    query = select(
        *short,
        cast(f.body["decline", "chance"].astext, Double).label("chance"),
        cast(f.body["bandwidth_gbps", "now"].astext, Double).label("bandwidth_gbps"),
        r.host,
        r.pci,
        r.rack,
        r.model,
    ).join(rnic, r.rnic_id == f.rnic_id)
    # Two arrays: a statement has at most 65,535 parameters, and a failing network may have more known declines.
    columns = [literal([place[i] for place in known], ARRAY(Text)) for i in (0, 1)]
    places = func.unnest(*columns).table_valued(column("host", Text), column("pci", Text), name="known").render_derived()
    wanted = or_(f.decline_since.is_not(None), tuple_(r.host, r.pci).in_(select(places.c.host, places.c.pci)))
    return list((await session.execute(query.where(f.made_at >= since, wanted))).all())


async def counts(
    session: ReadSession, *, within_s: float, wall: str | None, rack: str | None, model: str | None, since: datetime
) -> Row[int, int, int, int]:
    """How many RNICs are at a limit, likely to reach one, neither, and with a decline."""
    f, reached = rnic_forecast.c, _expected(within_s)
    at_limit = func.coalesce(f.likely_in_s == 0, false())
    query = (
        select(
            func.count().filter(at_limit).label("at_limit"),
            func.count().filter(reached, not_(at_limit)).label("likely"),
            func.count().filter(not_(reached)).label("others"),
            func.count().filter(_declines(within_s)).label("declining"),
        )
        .select_from(rnic_forecast.join(rnic, rnic.c.rnic_id == f.rnic_id))
        .where(f.made_at >= since, *_place(wall, rack, model))
    )
    return (await session.execute(query)).one()


def _nearest(made: Any, target_time: Any, path: list[str], way: Literal[-1, 1]) -> Any:
    """The stored forecast at a time, or the nearest before (-1) or after it (1)."""
    near = forecast.alias("before" if way < 0 else "after")
    same = near.c.rnic_id == made.c.rnic_id
    if way < 0:
        within = and_(same, near.c.time <= target_time, near.c.time >= target_time - NEIGHBOUR)
    else:
        within = and_(same, near.c.time >= target_time, near.c.time <= target_time + NEIGHBOUR)
    present = cast(near.c.body[(*path, "now")].astext, Double).label("present")
    order = near.c.time.desc() if way < 0 else near.c.time.asc()
    return select(near.c.time, present).where(within).order_by(order).limit(1).lateral()


async def past(
    session: ReadSession, rnic_id: int, path: list[str], place: int, horizon_s: int, since: datetime, until: datetime
) -> list[Any]:
    """Past forecasts, with the present values of the stored forecasts before and after their horizon."""
    made = forecast.alias("made")
    target_time = made.c.time + func.make_interval(0, 0, 0, 0, 0, 0, horizon_s)
    before, after = _nearest(made, target_time, path, -1), _nearest(made, target_time, path, 1)
    query = (
        select(
            made.c.time,
            made.c.cold_start,
            made.c.policy_violated,
            made.c.forecaster,
            made.c.body[(*path, "ahead", place)].label("predicted"),
            before.c.time.label("before_at"),
            before.c.present.label("before"),
            after.c.time.label("after_at"),
            after.c.present.label("after"),
        )
        .select_from(made)
        .outerjoin(before, true())
        .outerjoin(after, true())
        .where(made.c.rnic_id == rnic_id, made.c.time >= since, made.c.time < until)
        .order_by(made.c.time.desc())
        .limit(MOST_PAST)
    )
    return list((await session.execute(query)).all())


async def models(session: ReadSession) -> Sequence[Row[Any]]:
    return (await session.execute(select(forecast_model).order_by(forecast_model.c.trained_at.desc()))).all()


async def model_changes(session: ReadSession) -> Sequence[Row[Any]]:
    c = forecast_model_change.c
    return (await session.execute(select(forecast_model_change).order_by(c.at.desc(), c.action, c.model).limit(MOST_CHANGES))).all()
