"""Forecasts: the newest of one RNIC, of the fleet, past ones against what happened, and the models."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal

from wallwatch.domain.catalogue import load
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES
from wallwatch_backend.fleet.forecasts import repository
from wallwatch_backend.fleet.forecasts.schemas import (
    Ahead,
    Decline,
    FleetForecast,
    Forecast,
    ForecastCounts,
    ForecastModel,
    ForecastModelChange,
    Judged,
    PastForecast,
    PastForecasts,
    WallAhead,
)
from wallwatch_backend.fleet.rnics.service import identity_of, interval
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.paging import Page, decode_cursor, encode_cursor
from wallwatch_backend.kit.problems import InvalidInput

STALE = timedelta(minutes=5)
"""There is a forecast every minute: after five minutes without one the job is not running, or the RNIC is silent."""
LISTED = timedelta(minutes=15)
"""Older forecasts are about an hour that has partly passed; the fleet's list leaves them out."""

OTHERS: Mapping[str, tuple[str, str]] = {
    "q_l": ("Egress mask lookups", "lookups"),
    "q_r": ("Peers' ingress mask lookups", "lookups"),
    "bandwidth_gbps": ("Bandwidth", "Gbit/s"),
    "latency_us": ("Latency", "us"),
}
LIVE_FIELDS_APART = ("judged", "problem", "state", "widths")
"""Of `forecast_model.live`: these have separate fields, or are internal to the job."""
_OUTSIDE_TARGETS = ("bandwidth_gbps", "latency_us")
"""In the message next to `targets`, not in it."""


async def get_forecast(session: ReadSession, host: str, pci: str) -> Forecast | None:
    identity = await identity_of(session, host, pci)
    row = await repository.newest(session, identity.rnic_id)
    if row is None:
        return None
    body: dict[str, Any] = row.body
    targets: dict[str, dict[str, Any]] = body.get("targets") or {}
    walls = body.get("walls") or {}
    parts = {**targets, **{name: body[name] for name in _OUTSIDE_TARGETS if body.get(name)}}
    decline = body.get("decline")
    return Forecast(
        host=host,
        pci=pci,
        rack=identity.rack or None,
        model=body.get("model") or None,
        at=row.made_at,
        stale=clock.now() - row.made_at > STALE,
        forecaster=body.get("forecaster") or None,
        cold_start=row.cold_start,
        confidence=row.confidence,
        policy_violated=row.policy_violated,
        q_r_basis=body.get("q_r_basis"),
        horizons_s=body.get("horizons_s") or [60 * m for m in HORIZONS_MIN],
        quantiles=body.get("quantiles") or list(QUANTILES),
        walls=[
            WallAhead(
                wall=wall.id,
                label=wall.label,
                unit=wall.unit,
                now=targets[wall.id].get("now"),
                ahead=targets[wall.id].get("ahead") or [],
                limit=walls.get(wall.id, {}).get("limit"),
                earliest_in_s=walls.get(wall.id, {}).get("earliest_in_s"),
                likely_in_s=walls.get(wall.id, {}).get("likely_in_s"),
                latest_in_s=walls.get(wall.id, {}).get("latest_in_s"),
                chance=walls.get(wall.id, {}).get("chance"),
            )
            for wall in load.walls().values()
            if wall.id in targets
        ],
        others={
            name: Ahead(label=label, unit=unit, now=parts[name].get("now"), ahead=parts[name].get("ahead") or [])
            for name, (label, unit) in OTHERS.items()
            if name in parts
        },
        headroom=body.get("headroom") or [],
        decline=Decline(share=decline["share"], in_s=decline.get("in_s"), chance=decline.get("chance"), since=decline.get("since"))
        if decline and decline.get("share") is not None
        else None,
    )


async def list_forecasts(
    session: ReadSession,
    *,
    within_s: float,
    expected: bool,
    wall: str | None,
    rack: str | None,
    model: str | None,
    declining: bool | None,
    sort: Literal["time_to_wall", "decline"],
    limit: int,
    cursor: str | None,
) -> Page[FleetForecast]:
    _check_wall(wall)
    after: tuple[int, str, str] | None = None
    if cursor is not None:
        key, host, pci = decode_cursor(cursor, int, str, str)
        after = (int(str(key)), str(host), str(pci))
    rows = await repository.fleet(
        session,
        within_s=within_s,
        expected=expected,
        wall=wall,
        rack=rack,
        model=model,
        declining=declining,
        since=clock.now() - LISTED,
        sort=sort,
        after=after,
        limit=limit + 1,
    )
    items = [
        FleetForecast(
            host=row.host,
            pci=row.pci,
            rack=row.rack or None,
            model=row.model,
            made_at=row.made_at,
            wall=row.next_wall,
            label=load.walls()[row.next_wall].label if row.next_wall in load.walls() else None,
            earliest_in_s=row.earliest_in_s,
            likely_in_s=row.likely_in_s,
            latest_in_s=row.latest_in_s,
            chance=row.wall_chance,
            confidence=row.confidence,
            decline_share=row.decline_share,
            decline_since=row.decline_since,
            decline_in_s=row.decline_in_s,
            cold_start=row.cold_start,
            policy_violated=row.policy_violated,
        )
        for row in rows[:limit]
    ]
    last = rows[limit - 1] if len(rows) > limit else None
    return Page(items=items, next_cursor=None if last is None else encode_cursor(last.sort_key, last.host, last.pci))


async def count_forecasts(
    session: ReadSession, *, within_s: float, wall: str | None, rack: str | None, model: str | None
) -> ForecastCounts:
    _check_wall(wall)
    row = await repository.counts(session, within_s=within_s, wall=wall, rack=rack, model=model, since=clock.now() - LISTED)
    return ForecastCounts.model_validate(row, from_attributes=True)


def _check_wall(wall: str | None) -> None:
    if wall is not None and wall not in load.walls():
        raise InvalidInput(f"Unknown wall {wall!r} (expected one of {', '.join(load.walls())}).")


async def past_forecasts(
    session: ReadSession, host: str, pci: str, target: str, horizon_s: int, since: datetime | None, until: datetime | None
) -> PastForecasts:
    walls = load.walls()
    known = {**{w.id: (w.label, w.unit) for w in walls.values()}, **OTHERS}
    if target not in known:
        raise InvalidInput(f"Unknown target {target!r} (expected one of {', '.join(known)}).")
    horizons = [60 * m for m in HORIZONS_MIN]
    if horizon_s not in horizons:
        raise InvalidInput(f"`horizon_s` must be one of {', '.join(map(str, horizons))}.")
    start, end = interval(since, until)
    identity = await identity_of(session, host, pci)
    path = [target] if target in _OUTSIDE_TARGETS else ["targets", target]
    rows = await repository.past(session, identity.rnic_id, path, horizons.index(horizon_s), horizon_s, start, end)
    label, unit = known[target]
    return PastForecasts(
        target=target,
        label=label,
        unit=unit,
        horizon_s=horizon_s,
        items=[
            PastForecast(
                at=row.time,
                for_at=row.time + timedelta(seconds=horizon_s),
                low=row.predicted[0] if row.predicted else None,
                likely=row.predicted[len(row.predicted) // 2] if row.predicted else None,
                high=row.predicted[-1] if row.predicted else None,
                actual=happened(row.time + timedelta(seconds=horizon_s), (row.before_at, row.before), (row.after_at, row.after)),
                cold_start=row.cold_start,
                policy_violated=row.policy_violated,
                forecaster=row.forecaster or None,
            )
            for row in reversed(rows)
        ],
    )


def happened(at: datetime, before: tuple[datetime | None, float | None], after: tuple[datetime | None, float | None]) -> float | None:
    """The value at a time, from those at two times around it, which may be the same: on the straight line between them.

    >>> noon = datetime(2026, 1, 1, 12)
    >>> happened(noon, (noon - timedelta(minutes=1), 10.0), (noon + timedelta(minutes=4), 20.0))
    12.0
    >>> happened(noon, (noon, 10.0), (noon, 10.0)), happened(noon, (noon - timedelta(minutes=1), 10.0), (None, None))
    (10.0, None)
    """
    (earlier, first), (later, second) = before, after
    if earlier is None or later is None or first is None or second is None:
        return None
    span = (later - earlier).total_seconds()
    return first + (second - first) * (at - earlier).total_seconds() / span if span else first


async def list_models(session: ReadSession) -> list[ForecastModel]:
    return [
        ForecastModel(
            id=row.id,
            role=row.role,
            trained_at=row.trained_at,
            data=row.description.get("data") or {},
            metrics=row.description.get("metrics") or {},
            features=row.description.get("features") or [],
            sha256=row.description.get("sha256") or "",
            source=row.description.get("source"),
            live={name: value for name, value in row.live.items() if name not in LIVE_FIELDS_APART},
            judged=Judged.model_validate(row.live["judged"]) if row.live.get("judged") else None,
            problem=row.live.get("problem"),
            updated_at=row.updated_at,
        )
        for row in await repository.models(session)
    ]


async def list_model_changes(session: ReadSession) -> list[ForecastModelChange]:
    return [ForecastModelChange.model_validate(row, from_attributes=True) for row in await repository.model_changes(session)]
