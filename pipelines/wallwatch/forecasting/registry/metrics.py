"""Names of the metrics that training writes for a model; live errors are compared with them."""

from __future__ import annotations

HORIZON_MIN = 15
"""Metrics use forecasts this far ahead: long enough to be a forecast, short enough to be verified soon."""
MEAN = "mean_share"
"""Training metric: the mean error at this horizon, as a share of the wall."""
P95 = "p95_share"
"""Training metric: the 95th percentile of the error at this horizon, as a share of the wall."""
