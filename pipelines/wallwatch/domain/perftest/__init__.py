"""Reads the output of the `perftest` tools."""
