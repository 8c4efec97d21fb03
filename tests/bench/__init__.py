"""Benchmarks: each prints one line of JSON. `make bench` runs all of them, `python -m tests.bench NAME...` some."""

import sys

from wallwatch_local.paths import REPOSITORY

# What the benchmarks share with the tests, which find it by pytest's own setting.
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))
