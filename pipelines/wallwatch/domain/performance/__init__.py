"""Bandwidth and latency of an RNIC as a function of mask lookups."""
