"""Composition by pattern, against packets that pass the resources one by one, and detection of the pattern."""

import numpy as np
import pytest

from wallwatch.domain.contention.composition import (
    Observation,
    Pattern,
    compose,
    detect,
    mixed,
    pipeline,
    run_to_completion,
    summed,
)

P, R = Pattern.PIPELINE, Pattern.RUN_TO_COMPLETION


def measured(pattern: Pattern, stages: np.ndarray, slower: np.ndarray, noise: float, random: np.random.Generator) -> Observation:
    """A function of stages with times per packet, each made slower by contention: its throughput, and with one at a time contended."""

    def throughput(times: np.ndarray) -> float:
        return float(1.0 / (times.max() if pattern is P else times.sum()))

    solo = throughput(stages)
    alone = [throughput(np.where(np.arange(len(stages)) == at, stages * slower, stages)) for at in range(len(stages))]
    seen = [min(value * random.normal(1.0, noise), solo) for value in alone]
    return Observation(solo, tuple(solo - value for value in seen), throughput(stages * slower) * random.normal(1.0, noise))


def observations(pattern: Pattern, seed: int, noise: float = 0.03, count: int = 12) -> list[Observation]:
    random = np.random.default_rng(seed)
    stages = random.uniform(0.8, 1.2, 3)
    return [measured(pattern, stages, random.uniform(1.1, 2.2, 3), noise, random) for _ in range(count)]


@pytest.mark.parametrize("pattern", Pattern)
def test_each_pattern_is_met_within_two_percent_and_the_sum_is_far_off(pattern: Pattern) -> None:
    seen = [one for seed in range(20) for one in observations(pattern, seed, noise=0.01)]

    def mape(formula: object) -> float:
        return float(np.mean([abs(formula(one.solo, one.drops) / one.throughput - 1) for one in seen]))  # type: ignore[operator]

    assert mape(lambda solo, drops: compose(pattern, solo, drops)) < 0.02
    assert mape(summed) > 0.05


@pytest.mark.parametrize("pattern", Pattern)
def test_the_pattern_of_every_noisy_function_is_found(pattern: Pattern) -> None:
    found = [detect(observations(pattern, seed)).pattern for seed in range(25)]
    assert found.count(pattern) >= 24


def test_contention_of_one_resource_does_not_decide() -> None:
    found = detect([Observation(100.0, (30.0, 0.0), 69.0)])
    assert found.pattern is None
    assert found.margin == pytest.approx(0.0)


def test_run_to_completion_adds_times() -> None:
    assert run_to_completion(100.0, [20.0, 0.0]) == pytest.approx(80.0)
    assert run_to_completion(100.0, []) == 100.0
    assert pipeline(100.0, []) == 100.0
    assert run_to_completion(100.0, [20.0, 30.0]) < pipeline(100.0, [20.0, 30.0])


def test_neighbouring_run_to_completion_stages_merge_around_the_end() -> None:
    assert mixed(100.0, [(R, 20.0), (R, 30.0)]) == run_to_completion(100.0, [20.0, 30.0])
    assert mixed(100.0, [(R, 20.0), (P, 10.0), (R, 30.0)]) == pytest.approx(run_to_completion(100.0, [20.0, 30.0]))
    assert mixed(100.0, [(P, 20.0), (R, 30.0), (P, 40.0)]) == 60.0
    assert mixed(100.0, []) == 100.0


@pytest.mark.parametrize(("solo", "drops"), [(0.0, [0.0]), (100.0, [100.0]), (100.0, [-1.0]), (float("nan"), [])])
def test_impossible_drops_are_refused(solo: float, drops: list[float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        pipeline(solo, drops)
