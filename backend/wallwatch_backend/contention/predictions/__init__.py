"""Predictions for the functions of one card."""
