"""Policies of the catalogue: their formulas compiled, and a watcher that runs them over events of a fleet."""
