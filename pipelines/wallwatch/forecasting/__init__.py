"""Forecasts around the mathematics of `domain/forecast`: histories, training, the registry of models, models on live data (README.md)."""
