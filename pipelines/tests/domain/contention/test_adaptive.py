"""Adaptive profiling against functions whose sensitivity to traffic is known."""

import numpy as np
import pytest

from wallwatch.domain.contention.adaptive import Attribute, Measured, Profile, Traffic, profile

FLOWS = Attribute(0.0, 64.0, 16.0)
SIZE = Attribute(64.0, 1518.0, 1518.0)


def knee(traffic: Traffic, contention: float) -> float:
    """Falls until 8 thousand flows and is flat then; the size of packets does not matter."""
    solo = 1000.0 - 60.0 * min(traffic["flows"], 8.0)
    return solo * (1 - 0.3 * contention * min(traffic["flows"], 8.0) / 8.0)


def error(rows: list[Measured]) -> float:
    """Mean error of a nearest-neighbour prediction from the rows: any better model profits from better rows as well."""
    points = np.array([[row.traffic["flows"] / 64, row.contention / 4] for row in rows])
    values = np.array([row.throughput for row in rows])
    random, errors = np.random.default_rng(1), []
    for _ in range(400):
        flows, contention = random.uniform(0, 16), random.uniform()  # where throughput changes, and as much beyond
        nearest = np.argmin((((points - [flows / 64, contention / 4]) * [16, 1]) ** 2).sum(axis=1))
        errors.append(abs(values[nearest] / knee({"flows": flows}, contention) - 1))
    return float(np.mean(errors))


def drawn(size: int, seed: int) -> list[Measured]:
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(size):
        traffic, contention = {"flows": random.uniform(0, 64)}, random.uniform()
        rows.append(Measured(traffic, contention, knee(traffic, contention)))
    return rows


def test_it_measures_where_throughput_changes() -> None:
    adaptive = np.mean([error(profile({"flows": FLOWS}, knee, 40, seed=seed).rows) for seed in range(8)])
    random = np.mean([error(drawn(40, seed)) for seed in range(8)])
    assert adaptive < 0.75 * random


def test_attributes_without_effect_are_dropped() -> None:
    found = profile({"flows": FLOWS, "size": SIZE}, knee, 50)
    assert found.kept == ("flows",)
    assert {row.traffic["size"] for row in found.rows[4:]} == {1518.0} | {row.traffic["size"] for row in found.rows[4:5]}


@pytest.mark.parametrize("quota", [1, 3, 7, 50])
def test_the_quota_holds_and_nothing_is_measured_twice(quota: int) -> None:
    asked: list[tuple[tuple[tuple[str, float], ...], float]] = []

    def counting(traffic: Traffic, contention: float) -> float:
        asked.append((tuple(sorted(traffic.items())), contention))
        return knee(traffic, contention)

    found = profile({"flows": FLOWS, "size": SIZE}, counting, quota)
    assert len(asked) == len(set(asked)) == len(found.rows) <= quota


def test_effects_that_cancel_along_the_diagonal_are_found() -> None:
    def cancelling(traffic: Traffic, contention: float) -> float:
        return (1000.0 - 5 * traffic["flows"] + 5 * traffic["other"]) * (1 - 0.2 * contention)

    found = profile({"flows": FLOWS, "other": FLOWS}, cancelling, 60)
    assert any(row.contention > 0 for row in found.rows)
    assert any(row.traffic["flows"] != row.traffic["other"] and row.contention > 0 for row in found.rows)


def test_a_function_that_nothing_changes_costs_few_measurements() -> None:
    found: Profile = profile({"flows": FLOWS, "size": SIZE}, lambda traffic, contention: 500.0, 50)
    assert found.kept == ()
    assert len(found.rows) <= 5


@pytest.mark.parametrize("values", [(5.0, 1.0, 3.0), (0.0, 1.0, 2.0), (0.0, float("inf"), 1.0)])
def test_impossible_ranges_are_refused(values: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="low <= default <= high"):
        Attribute(*values)
