"""Monitors over columns of events, compiled by numba: a second implementation that only the benchmark `ltl` runs.

It measures what the tables of `wallwatch.domain.ltl.gaps` allow on one core. The product runs `domain/policies/running.py`, which keeps
traces, timers and hosts per subject, and the collectors' runner in Go.
"""
