"""Forecasts that the job `forecast` made for each RNIC, and what actually happened."""
