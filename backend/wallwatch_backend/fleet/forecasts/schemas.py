"""Forecasts of one RNIC and of the fleet, past forecasts, and the models."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from wallwatch.domain.forecast.confidence import Confidence
from wallwatch.domain.forecast.decline import COLD_FROM, COLD_UNTIL, SAID_FROM, SAID_UNTIL
from wallwatch.domain.forecast.wall_chance import LIKELY_FROM

Quantiles = list[float | None]
CHANCE = (
    "Chance of reaching this wall within the hour, from the quantiles of its value; 1 at the limit. "
    f"It is likely from {LIKELY_FROM} on, exactly where `likely_in_s` is not null. Null in forecasts of older versions"
)
CONFIDENCE = (
    "high: learnt from this fleet; medium: the base model, learnt from simulated fleets; low: a cold start, or a model whose fleet has "
    "changed since training. Null in forecasts of older versions"
)


class Ahead(BaseModel):
    """A value now, and its quantiles at each horizon."""

    label: str
    unit: str
    now: float | None
    ahead: list[Quantiles] = Field(description="For each horizon its quantiles, in rising order; null where it cannot be predicted")


class WallAhead(BaseModel):
    """One wall: the value, its limit, and when it is reached."""

    wall: str
    label: str
    unit: str
    now: float | None
    limit: float | None
    ahead: list[Quantiles]
    earliest_in_s: float | None = Field(description="From `at`; 0 if the limit is already reached, null when not within the horizons")
    likely_in_s: float | None = Field(description="When the median reaches the limit; null when not within the horizons")
    latest_in_s: float | None
    chance: float | None = Field(description=CHANCE)


class Decline(BaseModel):
    share: float = Field(description="Greatest predicted decline of the bandwidth against now")
    in_s: float | None = Field(
        description="First horizon at which a decline of 5% or more is more likely than not; null while none is predicted, and while "
        "its time is unknown: then it comes at some time within the hour"
    )
    chance: float | None = Field(
        description=f"Chance of a decline of 5% or more within the hour: a decline is predicted from {SAID_FROM} until it falls below "
        f"{SAID_UNTIL}. For a cold start, and a model that was not trained on it, the mean over 15 to 60 minutes ahead: from {COLD_FROM} "
        f"until below {COLD_UNTIL}"
    )
    since: datetime | None = Field(description="When this decline was first predicted; null while none is")


class Forecast(BaseModel):
    """The newest forecast of one RNIC."""

    host: str
    pci: str
    rack: str | None
    model: str | None
    at: datetime
    stale: bool = Field(description="There was no forecast in the last five minutes: this one may be out of date")
    forecaster: str | None = Field(description="Id of the trained model; null for a cold start")
    cold_start: bool = Field(description="Computed from the physical model and a damped trend alone")
    confidence: Confidence | None = Field(description=CONFIDENCE)
    policy_violated: bool = Field(description="A policy was violated within the hour before: a state error may make this wrong")
    q_r_basis: Literal["peers", "own_ingress"] | None = Field(
        description="Whether `q_r` is joined over peers, or the own ingress chain stands in; null in forecasts of older versions"
    )
    horizons_s: list[int]
    quantiles: list[float]
    walls: list[WallAhead]
    others: dict[str, Ahead] = Field(description="Mean mask lookups `q_l` and `q_r`, `bandwidth_gbps` and `latency_us`")
    headroom: list[Quantiles] = Field(description="Of the nearest wall at each horizon")
    decline: Decline | None = Field(description="Null where no performance can be predicted")


class FleetForecast(BaseModel):
    """One RNIC: the wall that it reaches first, and whether its bandwidth declines."""

    host: str
    pci: str
    rack: str | None
    model: str | None
    made_at: datetime
    wall: str | None
    label: str | None
    earliest_in_s: float | None
    likely_in_s: float | None
    latest_in_s: float | None
    chance: float | None = Field(description=CHANCE)
    confidence: Confidence | None = Field(description=CONFIDENCE)
    decline_share: float | None
    decline_since: datetime | None = Field(description="When the current decline was first predicted; null while none is")
    decline_in_s: float | None = Field(description="Null while no decline is predicted, and where its time within the hour is unknown")
    cold_start: bool
    policy_violated: bool


class ForecastCounts(BaseModel):
    """How many RNICs are at a limit, or expected to be; each RNIC with a forecast of the last 15 minutes counts once."""

    at_limit: int = Field(description="At or past a limit now")
    likely: int = Field(description=f"Not at a limit, and likely to reach one (chance {LIKELY_FROM} or more)")
    others: int = Field(description="Neither")
    declining: int = Field(description="With a predicted decline of bandwidth within that time, whatever their limits do")


class PastForecast(BaseModel):
    """What was predicted for a time, and what actually happened."""

    at: datetime
    for_at: datetime
    low: float | None
    likely: float | None
    high: float | None
    actual: float | None = Field(
        description="The value at that time, interpolated between stored forecasts; null before that time, or when nothing was measured"
    )
    cold_start: bool
    policy_violated: bool
    forecaster: str | None


class PastForecasts(BaseModel):
    target: str
    label: str
    unit: str
    horizon_s: int
    items: list[PastForecast]


class Judged(BaseModel):
    """A challenger against the champion: the same RNICs and minutes, judged by what actually happened."""

    champion: str = Field(description="Id of the champion it is compared with")
    verdict: Literal["better", "worse", "no_difference", "not_enough"] = Field(
        description="Whether its loss is lower, by more than chance explains, over at least a day"
    )
    hours: int = Field(description="Hours that both have predicted")
    loss: float | None = Field(description="Mean quantile loss at 15 minutes, as a share of the wall: lower is better")
    champion_loss: float | None


class ForecastModelChange(BaseModel):
    """A change of a model, and its author."""

    at: datetime
    action: Literal["trained", "promoted", "rolled_back", "removed"]
    model: str = Field(description="The model that was trained, became champion or was removed")
    champion_before: str | None
    by: str = Field(description="Account of the operating system, or the job itself")
    reason: str


class ForecastModel(BaseModel):
    """One trained model of the registry."""

    id: str
    role: str = Field(
        description="champion: its forecasts are published; challenger: its forecasts are not published; former; none; base: the base "
        "model, trained on simulated fleets, whose forecasts are published while there is no champion that can be used"
    )
    trained_at: datetime
    data: dict[str, Any] = Field(description="Window, RNICs and examples of the training")
    metrics: dict[str, dict[str, float]] = Field(description="By target: errors and coverage on data outside the training set")
    features: list[str]
    sha256: str
    source: str | None
    live: dict[str, Any] = Field(description="Errors at 15 minutes on live data and how they compare with training; empty before the first")
    judged: Judged | None = Field(description="Of the challenger; null for others, and before its first hour")
    problem: str | None = Field(description="Why the model cannot be used: its file is damaged, or of another version")
    updated_at: datetime
