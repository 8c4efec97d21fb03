"""Scores of forecasts, compared with the performance of the simulated RNICs' mechanism, next to simple baselines."""
