"""`/forecasts`, `/forecast-models`, and the forecasts of one RNIC."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from wallwatch.domain.forecast.wall_chance import LIKELY_FROM
from wallwatch_backend.fleet.forecasts import service
from wallwatch_backend.fleet.forecasts.schemas import (
    FleetForecast,
    Forecast,
    ForecastCounts,
    ForecastModel,
    ForecastModelChange,
    PastForecasts,
)
from wallwatch_backend.fleet.rnics.endpoints import ONE, From, Host, Pci, To
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.text import Line

router = APIRouter(tags=["forecasts"])

Within = Annotated[float, Query(ge=0, le=3600, description="Only walls that are likely to be reached within so many seconds")]


@router.get("/forecasts", operation_id="listForecasts", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_forecasts(
    caller: AsViewer,
    session: Reading,
    within_s: Within = 3600.0,
    expected: Annotated[
        bool, Query(description=f"RNICs at a limit now or likely to reach one (chance {LIKELY_FROM} or more); false: all others instead")
    ] = True,
    wall: Annotated[Line | None, Query(description="Only this wall")] = None,
    rack: Annotated[Line | None, Query()] = None,
    model: Annotated[Line | None, Query()] = None,
    declining: Annotated[bool | None, Query(description="Only RNICs with a predicted decline (5% or more), or only others")] = None,
    sort: Literal["time_to_wall", "decline"] = "time_to_wall",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[FleetForecast]:
    """List RNICs at a limit or likely to reach one, soonest first, or with a predicted decline, worst first."""
    return await service.list_forecasts(
        session,
        within_s=within_s,
        expected=expected,
        wall=wall,
        rack=rack,
        model=model,
        declining=declining,
        sort=sort,
        limit=limit,
        cursor=cursor,
    )


@router.get("/forecasts/counts", operation_id="countForecasts", responses=problems.responses(*READ_ERRORS))
async def count_forecasts(
    caller: AsViewer,
    session: Reading,
    within_s: Within = 3600.0,
    wall: Annotated[Line | None, Query(description="Only this wall")] = None,
    rack: Annotated[Line | None, Query()] = None,
    model: Annotated[Line | None, Query()] = None,
) -> ForecastCounts:
    """Count RNICs at a limit, likely to reach one, and not expected to."""
    return await service.count_forecasts(session, within_s=within_s, wall=wall, rack=rack, model=model)


@router.get("/forecast-models", operation_id="listForecastModels", responses=problems.responses(*READ_ERRORS))
async def list_models(caller: AsViewer, session: Reading) -> list[ForecastModel]:
    """List the trained models, newest first."""
    return await service.list_models(session)


@router.get("/forecast-models/changes", operation_id="listForecastModelChanges", responses=problems.responses(*READ_ERRORS))
async def list_model_changes(caller: AsViewer, session: Reading) -> list[ForecastModelChange]:
    """List the last 100 changes of models and their authors, newest first."""
    return await service.list_model_changes(session)


@router.get("/rnics/{host}/{pci}/forecast", operation_id="getForecast", responses=ONE)
async def get_forecast(caller: AsViewer, host: Host, pci: Pci, session: Reading) -> Forecast | None:
    """Return the newest forecast of one RNIC, null before the first."""
    return await service.get_forecast(session, host, pci)


@router.get("/rnics/{host}/{pci}/forecasts", operation_id="listPastForecasts", responses=ONE)
async def past_forecasts(
    caller: AsViewer,
    host: Host,
    pci: Pci,
    session: Reading,
    target: Annotated[Line, Query(description="A wall, q_l, q_r, bandwidth_gbps or latency_us")] = "bandwidth_gbps",
    horizon_s: Annotated[int, Query(description="60, 300, 900, 1800 or 3600")] = 900,
    since: From = None,
    until: To = None,
) -> PastForecasts:
    """Return past forecasts, each with what actually happened: at most the newest 2,000."""
    return await service.past_forecasts(session, host, pci, target, horizon_s, since, until)
