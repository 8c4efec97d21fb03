"""Names of the metrics that training writes of a model, and with which live errors are compared."""

from __future__ import annotations

HORIZON_MIN = 15
"""Metrics are of forecasts so far ahead: long enough to be a forecast, short enough to be known soon."""
MEAN = "mean_share"
"""Among the metrics of training: the mean error at this horizon, as a share of the wall."""
P95 = "p95_share"
"""Among the metrics of training: the 95th percentile of the error at this horizon, as a share of the wall."""
