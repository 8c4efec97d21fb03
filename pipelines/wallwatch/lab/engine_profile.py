"""Co-runs of a function at its accelerator: queues, times per request, and how packets meet memory and accelerator.

First four runs with long requests of the bench give the number of queues. Then runs without matches, next to a bench whose requests are
just long enough to make the accelerator the limit, give `t0`: it is a small part of each period, so periods must be short and several. At
last, memory and accelerator are contended together: the larger drop decides (pipeline), or both add up (run to completion).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from wallwatch.domain.contention.composition import Detected, Observation, detect
from wallwatch.domain.contention.inference import CoRun, EngineProfile, NotIdentifiable, infer
from wallwatch.domain.lab.device import Config, Device, Parameter

CONTENTION = "contention"
MATCHES, BENCH_QUEUES, BENCH_TIME = "mtbr", "engine_bench_queues", "engine_bench_ns"
NS_PER_INVERSE_KPPS = 1e6
_QUEUE_RUNS = ((0.65, 0.6), (0.65, 0.9), (1.0, 0.6), (1.0, 0.9))
"""Shares of the ranges of `mtbr` and of the bench's time: two ratios, both with two bench settings."""
_T0_RUNS = 6
_SATURATES = 1.25
"""Period with the bench, in solo periods: shorter, and the accelerator may not be the limit; longer, and the noise hides `t0`."""
_PATTERN_RUNS = ((1.0, 1.3), (0.8, 1.6))
"""Share of the memory bench's ranges, and the period that the accelerator alone would cause, in solo periods."""
_LEAST_DROP = 0.08
"""Share of solo that both resources must take: with less, both patterns predict the same."""
MOST_RUNS = len(_QUEUE_RUNS) + _T0_RUNS + 2 * len(_PATTERN_RUNS)

Rates = Callable[[Sequence[Config]], Sequence[float]]
"""Measures configurations that do not depend on each other; throughput in kpps."""


@dataclass
class EngineRuns:
    """What was found; `problem` says why `engine` is None although there is an accelerator."""

    runs: list[CoRun] = field(default_factory=list)
    engine: EngineProfile | None = None
    pattern: Detected | None = None
    problem: str = ""


def uses_engine(device: Device) -> bool:
    """Whether the device has an accelerator with a bench, and matches to vary."""
    names = (MATCHES, BENCH_QUEUES, BENCH_TIME)
    return all(name in device.by_name and device.by_name[name].kind == "integer" for name in names)


def measure(device: Device, solo: float, rates: Rates) -> EngineRuns:
    """Measure at most `MOST_RUNS` co-runs of a function whose throughput alone, without matches, is `solo` kpps."""
    found = EngineRuns()
    matches, time = device.by_name[MATCHES], device.by_name[BENCH_TIME]
    _run(
        found,
        [
            _next_to_bench(device, _between(matches, share), time.between(time.minimum, time.maximum, time_share))
            for share, time_share in _QUEUE_RUNS
        ],
        rates,
    )
    try:
        queues = infer(found.runs).queues
        shortest = round(_SATURATES * queues / solo * NS_PER_INVERSE_KPPS)
        times = [_within(time, shortest + at * time.step) for at in range(_T0_RUNS)]
        _run(found, [_next_to_bench(device, matches.minimum, each) for each in sorted(set(times))], rates)
        found.engine = infer(found.runs)
    except NotIdentifiable as problem:
        found.problem = str(problem)
        return found
    found.pattern = _pattern(device, solo, found.engine, rates)
    return found


def _pattern(device: Device, solo: float, engine: EngineProfile, rates: Rates) -> Detected | None:
    """None where the benches take too little to distinguish the patterns."""
    time = device.by_name[BENCH_TIME]
    matches = float(device.by_name[MATCHES].minimum)
    memory, both, limits = [], [], []
    for share, periods in _PATTERN_RUNS:
        wanted = (periods / solo - engine.service_time(matches)) * engine.queues * NS_PER_INVERSE_KPPS
        nanoseconds = _within(time, round(wanted))
        pressed = {one.name: _between(one, share) for one in device.parameters if one.component == CONTENTION and one.kind == "integer"}
        memory.append({**alone(device), **pressed})
        both.append({**_next_to_bench(device, int(matches), nanoseconds), **pressed})
        limits.append(1.0 / (engine.service_time(matches) + nanoseconds / NS_PER_INVERSE_KPPS / engine.queues))
    measured = list(rates([*memory, *both]))
    observations = []
    for by_memory, by_engine, by_both in zip(measured, limits, measured[len(memory) :], strict=False):
        drops = (max(solo - by_memory, 0.0), max(solo - by_engine, 0.0))
        if min(drops) >= _LEAST_DROP * solo:
            observations.append(Observation(solo, drops, by_both))
    return detect(observations) if observations else None


def _run(found: EngineRuns, configs: Sequence[Config], rates: Rates) -> None:
    for config, rate in zip(configs, rates(configs), strict=True):
        # They are integers, by `uses_engine`.
        # mypy cannot know that these three parameters are numbers.
        matches, queues, nanoseconds = (float(config[name]) for name in (MATCHES, BENCH_QUEUES, BENCH_TIME))  # type: ignore[arg-type]
        found.runs.append(CoRun(matches, int(queues), nanoseconds / NS_PER_INVERSE_KPPS, rate))


def alone(device: Device) -> Config:
    """The device's usual traffic without matches and without any bench."""
    quiet = {one.name: one.minimum for one in device.parameters if one.name in (MATCHES, BENCH_QUEUES, BENCH_TIME)}
    calm = {one.name: one.minimum for one in device.parameters if one.component == CONTENTION and one.kind == "integer"}
    return {**device.default, **quiet, **calm}


def _next_to_bench(device: Device, matches: int, nanoseconds: int) -> Config:
    return {**alone(device), MATCHES: matches, BENCH_QUEUES: 1, BENCH_TIME: nanoseconds}


def _between(parameter: Parameter, share: float) -> int:
    return parameter.between(parameter.minimum, parameter.maximum, share)


def _within(parameter: Parameter, value: int) -> int:
    return parameter.at(min(max(round((value - parameter.minimum) / parameter.step), 0), parameter.size - 1))
