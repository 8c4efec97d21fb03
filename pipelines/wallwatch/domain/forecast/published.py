"""A message of `wallwatch.forecasts` as its readers may rely on it. `message.py` builds it as a plain dict, which is faster."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field

from wallwatch.domain.forecast.confidence import Confidence

_Chance = Annotated[float, Field(ge=0, le=1)]
_Seconds = Annotated[float, Field(ge=0)]


class PublishedTarget(BaseModel):
    """A quantity now, and ahead: a list of quantiles for each horizon."""

    now: float | None
    ahead: list[list[float | None]]


class PublishedWall(BaseModel):
    """A limit, and when it is reached; null: not within the hour."""

    limit: float | None
    earliest_in_s: _Seconds | None
    likely_in_s: _Seconds | None
    latest_in_s: _Seconds | None
    chance: _Chance | None = Field(description="Of reaching it within the hour")


class PublishedDecline(BaseModel):
    """The largest decline of the bandwidth within the hour."""

    share: float
    chance: _Chance | None
    in_s: _Seconds | None
    since: AwareDatetime | None = Field(description="Null: no decline is predicted")


class PublishedForecast(BaseModel):
    """The forecast of one RNIC."""

    host: str
    pci: str
    rack: str
    model: str
    at: AwareDatetime = Field(description="End of the newest minute that it knows")
    forecaster: str = Field(description="Id of the trained model; empty for a cold start")
    cold_start: bool
    confidence: Confidence
    policy_violated: bool
    q_r_basis: Literal["peers", "own_ingress"]
    horizons_s: list[int]
    quantiles: list[float]
    targets: dict[str, PublishedTarget] = Field(description="By wall, and q_l and q_r")
    bandwidth_gbps: PublishedTarget | None
    latency_us: PublishedTarget | None
    headroom: list[list[float | None]]
    walls: dict[str, PublishedWall]
    decline: PublishedDecline | None
