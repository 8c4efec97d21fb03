"""The ledger of performance: what the hot paths cost, as ratios to a reference measured in the same run.

A ratio of CPU times says the same on a fast, a slow and a busy machine, so it can be compared with the ratio in `ledger.json`, which is
committed. `python -m tests.bench.ledger` compares; `--update` writes what it measures.
"""
