"""Forecasts of the job `forecast` for each RNIC, and what actually happened."""
