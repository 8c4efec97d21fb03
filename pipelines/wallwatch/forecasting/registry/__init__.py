"""Trained models on disk, and which of them forecasts."""
