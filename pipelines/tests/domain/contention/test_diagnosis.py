"""The binding resource against a function of stages whose slowest one is known."""

import numpy as np
import pytest

from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.diagnosis import contributions, diagnose, shift_at


def test_the_slowest_stage_is_named_in_nearly_all_of_three_hundred_noisy_cases() -> None:
    random = np.random.default_rng(3)
    right = total = 0
    while total < 300:
        memory, regex = random.uniform(300, 1000, 2)
        if abs(memory / regex - 1) < 0.03:
            continue  # both bind: no truth to be right about
        solo = float(max(memory, regex) * random.uniform(1.0, 1.3))
        seen = {name: value * random.normal(1.0, 0.01) for name, value in (("memory", memory), ("regex", regex))}
        right += diagnose(Pattern.PIPELINE, solo, seen).bottleneck == ("memory" if memory < regex else "regex")
        total += 1
    assert right >= 294


def test_it_says_how_much_comes_back() -> None:
    found = diagnose(Pattern.PIPELINE, 100.0, {"memory": 70.0, "regex": 90.0})
    assert (found.bottleneck, found.throughput, found.comes_back) == ("memory", 70.0, 20.0)
    assert found.shares == {"memory": 1.0, "regex": 0.0}


def test_shares_of_run_to_completion_are_those_of_added_time() -> None:
    found = diagnose(Pattern.RUN_TO_COMPLETION, 1.0, {"memory": 1 / 1.3, "regex": 1 / 1.1})
    assert found.throughput == pytest.approx(1 / 1.4)
    assert found.shares == pytest.approx({"memory": 0.75, "regex": 0.25})
    assert found.comes_back == pytest.approx(1 / 1.1 - 1 / 1.4)


def test_without_contention_nothing_binds() -> None:
    found = diagnose(Pattern.PIPELINE, 100.0, {"memory": 99.9, "regex": 120.0})
    assert found.bottleneck is None
    assert found.comes_back == 0.0


def test_contributions_are_by_leaving_one_out() -> None:
    cost = {0: 90.0, 1: 70.0, None: 60.0}
    assert contributions(["acl", "nat"], lambda at: cost[at]) == {"acl": 30.0, "nat": 10.0}


def test_the_accelerator_takes_over_where_both_allow_the_same() -> None:
    ratio = shift_at(600.0, 5e-4, 1.5e-4, 2e-6)
    assert ratio is not None
    assert 1 / (1.5e-4 + 2e-6 * ratio + 5e-4) == pytest.approx(600.0)
    assert shift_at(600.0, 1.0, 1.5e-4, 2e-6) is None  # binds at every ratio
    assert shift_at(600.0, 0.0, 1.5e-4, 0.0) is None
