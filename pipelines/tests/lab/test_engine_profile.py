"""Co-runs at an accelerator, on functions whose mechanism is known: queues, t0 within its interval, and the pattern."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.lab.device import Config, Device, Parameter
from wallwatch.lab import engine_profile
from wallwatch.lab.engine_profile import MOST_RUNS, EngineRuns


def integer(name: str, component: str, low: int, high: int) -> Parameter:
    return Parameter(name, "integer", component, minimum=low, maximum=high)


PARAMETERS = (
    integer("flows", "traffic", 1000, 64_000),
    integer("mtbr", "traffic", 0, 1000),
    integer("bench_rate", "contention", 0, 100),
    integer("engine_bench_queues", "accelerator", 0, 4),
    integer("engine_bench_ns", "accelerator", 100, 40_000),
)
DEVICE = Device("probe", "", PARAMETERS, (), (), {**{one.name: one.minimum for one in PARAMETERS}, "flows": 16_000})


@dataclass
class Function:
    """Times in ms (1/kpps): on the cores, at the accelerator, and per match; memory contention takes a share of the cores' time more."""

    pattern: Pattern
    core: float
    t0: float
    a: float
    queues: int
    more: float
    noise: float
    seed: int

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.asked: list[Config] = []

    def rate(self, config: Config) -> float:
        at = {name: float(value) for name, value in config.items()}  # type: ignore[arg-type]  # this device has numbers only
        core = self.core * (1 + self.more * at["bench_rate"] / 100)
        engine = self.t0 + self.a * at["mtbr"] + at["engine_bench_queues"] * at["engine_bench_ns"] * 1e-6 / self.queues
        period = max(core, engine) if self.pattern is Pattern.PIPELINE else core + engine
        return float(self.random.normal(1.0, self.noise)) / period

    def rates(self, configs: Sequence[Config]) -> list[float]:
        self.asked += configs
        return [self.rate(config) for config in configs]

    def profiled(self) -> EngineRuns:
        return engine_profile.measure(DEVICE, self.rate(engine_profile.alone(DEVICE)), self.rates)


def drawn(seed: int, noise: float) -> Function:
    random = np.random.default_rng(seed)
    core = float(random.uniform(0.8e-3, 2.5e-3))
    t0 = core * float(random.uniform(0.1, 0.3))
    pattern = list(Pattern)[seed % 2]
    return Function(pattern, core, t0, 3e-6, int(random.integers(1, 4)), float(random.uniform(0.2, 0.6)), noise, seed)


def test_the_pattern_of_48_of_50_functions_is_detected_at_three_percent_noise() -> None:
    right = undecided = 0
    for seed in range(50):
        function = drawn(seed, 0.03)
        found = function.profiled().pattern
        right += found is not None and found.pattern is function.pattern
        undecided += found is None or found.pattern is None
    assert right >= 48, f"{right} right, {undecided} undecided"


def test_t0_of_a_pipeline_is_within_its_interval_and_several_times_surer_than_with_long_requests() -> None:
    """Four runs with long requests alone leave an error of the size of t0 itself."""
    off, inside = [], 0
    for seed in range(0, 80, 2):
        function = drawn(seed, 0.01)
        engine = function.profiled().engine
        assert engine is not None
        assert engine.queues == function.queues
        assert engine.t0_error is not None
        off.append(engine.t0 / function.t0 - 1)
        inside += abs(engine.t0 - function.t0) <= 1.645 * engine.t0_error
    assert np.median(np.abs(off)) < 0.05
    assert inside >= 28, "of 40; 36 are expected"


def test_runs_stay_within_what_is_announced_and_repeat_nothing() -> None:
    function = drawn(4, 0.01)
    function.profiled()
    keys = [DEVICE.key(config) for config in function.asked]
    assert len(keys) == len(set(keys)) <= MOST_RUNS
    assert all(parameter.contains(config[parameter.name]) for config in function.asked for parameter in PARAMETERS)


def test_benches_that_take_too_little_leave_the_pattern_undecided() -> None:
    function = Function(Pattern.PIPELINE, 1e-3, 2e-4, 3e-6, 1, 0.02, 0.0, 1)
    assert function.profiled().pattern is None


def test_an_engine_that_the_bench_does_not_fill_is_a_problem_that_is_said() -> None:
    function = Function(Pattern.PIPELINE, 10.0, 1e-4, 1e-7, 1, 0.5, 0.0, 1)
    found = function.profiled()
    assert found.engine is None
    assert "does not keep the engine busy" in found.problem


@pytest.mark.parametrize("missing", ["mtbr", "engine_bench_queues", "engine_bench_ns"])
def test_a_device_without_matches_or_a_bench_has_no_accelerator(missing: str) -> None:
    assert engine_profile.uses_engine(DEVICE)
    without = Device("probe", "", tuple(one for one in PARAMETERS if one.name != missing), (), (), {})
    assert not engine_profile.uses_engine(without)
