"""The parameters of the performance model of one RNIC model (paper, Table 3)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

DECLINE_SHARE = 0.05
"""A bandwidth lower by this share is a decline; an equal gain is noticeable too (paper, sections 4 and 4.3: empirically 5%)."""

Covariance = tuple[tuple[float, ...], ...]


class Performance(BaseModel):
    """Parameters of the paper's Table 3 for one RNIC model: Gbit/s, microseconds, mask lookups."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    u: float
    v: float = Field(gt=0)
    m: float
    n: float
    w: float
    a: float
    b: float
    c: float
    goodness: float = Field(gt=0, le=1)
    """R squared of the fit of bandwidth."""
    latency_goodness: float | None = Field(None, gt=0, le=1)
    """That of latency; Table 3 prints one goodness for both."""
    bandwidth_relative_sd: float | None = Field(None, ge=0)
    """Relative scatter around the fit, which only a calibration knows."""
    latency_relative_sd: float | None = Field(None, ge=0)
    bandwidth_covariance: Covariance | None = None
    """Of u, v, m, n, w: what the points of a calibration leave open, so that predictions far from them are wide."""
    latency_covariance: Covariance | None = None
    """Of a, b, c."""
