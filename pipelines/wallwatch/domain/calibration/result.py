"""The result of a calibration: the fit of each quantity with its goodness, its intervals, and whether it may replace the current
profile."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wallwatch.domain.performance.parameters import Covariance
from wallwatch.domain.perftest.runs import Quantity, Verb

Version = Literal["wallwatch-calibration/1"]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Parameter(_Body):
    """One fitted parameter; `lower` and `upper` bound its 95% interval. Null only in calibrations of earlier versions."""

    value: float
    lower: float | None
    upper: float | None
    identified: bool = Field(
        description="Whether the points identify it; an unidentified parameter stays near the current profile's value, with a wide interval"
    )
    current: float


class FittedPoint(_Body):
    source: str
    q_l: float
    q_r: float
    measured: float
    fitted: float
    current: float = Field(description="Value of the current profile")
    residual: float = Field(description="measured - fitted")
    relative: float = Field(description="fitted / measured - 1")


class SizeFit(_Body):
    """The same model at another message size: for latency, its slopes and its constant grow with the number of packets per message."""

    message_bytes: int
    points: int
    parameters: dict[str, float]
    r_squared: float | None
    worst_relative: float


class QuantityFit(_Body):
    quantity: Quantity
    verb: Verb
    unit: Literal["Gbit/s", "us"]
    message_bytes: int
    statistic: str
    points: list[FittedPoint]
    distinct: int = Field(description="Different (Q_l, Q_r) among the points")
    degrees_of_freedom: int
    parameters: dict[str, Parameter]
    covariance: list[list[float]] | None = Field(description="Covariance of the parameters in their order, widened for few points")
    r_squared: float | None
    relative_error: float = Field(description="Root mean square of the relative residuals")
    left_out_error: float | None = Field(description="The same for each point when left out of the fit")
    worst_relative: float
    current_r_squared: float | None
    current_relative_error: float
    level: float
    interval_method: str
    accepted: bool
    reason: str
    notes: list[str]
    by_size: list[SizeFit] = []


class FileRead(_Body):
    name: str
    runs: int
    used: int = Field(description="Runs used by at least one fit")
    q_l: float | None = None
    q_r: float | None = None


class Candidate(_Body):
    """Parameters that would replace those of the profile; what was not fitted is as before."""

    u: float
    v: float
    m: float
    n: float
    w: float
    a: float
    b: float
    c: float
    goodness: float = Field(gt=0, le=1)
    latency_goodness: float | None = Field(None, gt=0, le=1)
    bandwidth_relative_sd: float | None = Field(None, ge=0, description="Relative scatter of bandwidth around the fit")
    latency_relative_sd: float | None = Field(None, ge=0)
    bandwidth_covariance: Covariance | None = Field(None, description="Covariance of u, v, m, n, w")
    latency_covariance: Covariance | None = Field(None, description="Of a, b, c")


class Calibration(_Body):
    """The answer of `wallwatch calibrate` and of the API."""

    version: Version = "wallwatch-calibration/1"
    profile: str
    profile_chosen: Literal["given", "nearest"]
    verb: Verb = Field(description="Verb whose fits form the candidate")
    accepted: bool
    reasons: list[str]
    bandwidth: QuantityFit | None
    latency: QuantityFit | None
    other_fits: list[QuantityFit]
    candidate: Candidate | None = Field(description="Null when it was rejected")
    assumptions: list[str]
    notes: list[str]
    problems: list[str]
    files: list[FileRead]
