"""Evaluation of forecasts: simulated fleets whose loads grow, shrink and repeat, recorded with the performance of the mechanism."""
