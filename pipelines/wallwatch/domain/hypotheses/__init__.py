"""Causes ranked by posterior, with evidence for and against."""
