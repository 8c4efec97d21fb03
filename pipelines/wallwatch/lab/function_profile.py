"""Profiles of a network function, measured on a device that speaks `dut/1` (docs/contention.md).

Parameters of the component `traffic` are attributes of traffic, those of `contention` set a bench that competes for memory. A function that
uses an accelerator has `mtbr` in its traffic and the bench `engine_bench_queues`, `engine_bench_ns` (`engine_profile`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wallwatch.domain.contention.adaptive import Attribute, Traffic, profile
from wallwatch.domain.contention.counters import COUNTER_NAMES
from wallwatch.domain.lab.device import Config, Device, Parameter
from wallwatch.domain.lab.report import Report
from wallwatch.domain.lab.tester import Options, SearchEnd, Stopped, Tester
from wallwatch.lab import engine_profile
from wallwatch.lab.engine_profile import CONTENTION, MATCHES, MOST_RUNS, EngineRuns, alone, uses_engine
from wallwatch.lab.faults import BadDevice

TRAFFIC = "traffic"
FLOWS, PACKET_BYTES = "flows", "packet_bytes"
THROUGHPUT = "throughput_kpps"
COUNTERS = tuple(f"competitors_{name}" for name in COUNTER_NAMES)
OWN_COUNTERS = tuple(f"own_{name}" for name in COUNTER_NAMES)
PER_SPLIT = 3
FEWEST_OF_MEMORY = 10
"""Rows that a model of the memory is trained on at least."""


@dataclass
class FunctionProfile:
    """What was measured. `memory` has rows of flows, packet size, the competitors' counters and throughput."""

    kept: tuple[str, ...] = ()
    memory: list[list[float]] = field(default_factory=list)
    own: list[list[float]] = field(default_factory=list)
    """Rows of flows, packet size and the function's own counters, measured alone; empty where the device does not emit them."""
    packet_bytes: float = 0.0
    """Of the runs at the accelerator."""
    accelerator: EngineRuns = field(default_factory=EngineRuns)


class ProfileSearch:
    """A search of the laboratory that measures a profile instead of looking for causes; each test is in the journal before the next."""

    def __init__(self, quota: int) -> None:
        self.quota = quota
        self.found = FunctionProfile()

    def __call__(self, device: Device, tester: Tester, options: Options) -> Report:
        """Measure; a profile that ends early is reported with what there is."""
        check(device, self.quota)
        stopped = None
        try:
            self._measure(device, tester, options.seed)
        except SearchEnd as end:
            stopped = str(end)
        return Report(device, options, stopped=stopped)

    def _measure(self, device: Device, tester: Tester, seed: int) -> None:
        def test(config: Config) -> Mapping[str, float]:
            outcome = tester.test(config, "baseline")
            if outcome.status != "ok":
                raise Stopped(f"the device did not measure {config}: {outcome.reason or outcome.status}")
            return outcome.metrics

        usual_bytes = self.found.packet_bytes = float(device.default.get(PACKET_BYTES, 0) or 0)  # type: ignore[arg-type]

        def throughput(traffic: Traffic, contention: float) -> float:
            metrics = test(configuration(device, traffic, contention))
            row = [traffic[FLOWS], traffic.get(PACKET_BYTES, usual_bytes)]
            self.found.memory.append([*row, *(metrics[name] for name in COUNTERS), metrics[THROUGHPUT]])
            if contention == 0 and row[1] == usual_bytes and all(name in metrics for name in OWN_COUNTERS):
                self.found.own.append([*row, *(metrics[name] for name in OWN_COUNTERS)])
            return metrics[THROUGHPUT]

        of_memory = _of_memory(device, self.quota)
        self.found.kept = profile(attributes(device), throughput, of_memory, per_split=PER_SPLIT, seed=seed, fill=True).kept
        if uses_engine(device):
            solo = self.found.memory[0][-1]  # the first measurement is the usual traffic, alone
            self.found.accelerator = engine_profile.measure(device, solo, lambda configs: [test(one)[THROUGHPUT] for one in configs])


def planned(device: Device, quota: int, seed: int, answers: Sequence[tuple[Config, Mapping[str, float]]]) -> list[Config]:
    """The next configurations to measure by hand, given those that were measured; empty when the profile is complete.

    What is measured under contention does not decide what comes next, so the list goes on until the next measurement that does.
    """
    check(device, quota)
    known = {device.key(config): metrics[THROUGHPUT] for config, metrics in answers}
    wanted: list[Config] = []

    def throughput(traffic: Traffic, contention: float) -> float:
        config = configuration(device, traffic, contention)
        value = known.get(device.key(config))
        if value is not None:
            return value
        wanted.append(config)
        if contention == 0:
            raise _Undecided
        return 1.0

    def rates(configs: Sequence[Config]) -> list[float]:
        missing = [config for config in configs if device.key(config) not in known]
        if missing:
            wanted.extend(missing)
            raise _Undecided
        return [known[device.key(config)] for config in configs]

    first = [configuration(device, traffic, 0.0) for traffic in _ends(attributes(device))]
    missing = [config for config in first if device.key(config) not in known]
    if missing:
        return missing[:quota]
    of_memory = _of_memory(device, quota)
    try:
        profile(attributes(device), throughput, of_memory, per_split=PER_SPLIT, seed=seed, fill=True)
        if uses_engine(device):
            engine_profile.measure(device, known[device.key(first[0])], rates)
    except _Undecided:
        pass
    return wanted


def _of_memory(device: Device, quota: int) -> int:
    """What the accelerator's runs leave of the quota."""
    return quota - MOST_RUNS if uses_engine(device) else quota


class _Undecided(Exception):
    """A measurement is missing that decides what comes next."""


def _ends(given: Mapping[str, Attribute]) -> list[Traffic]:
    default = {name: attribute.default for name, attribute in given.items()}
    found = [default]
    for name, attribute in given.items():
        found += [one for end in (attribute.high, attribute.low) if (one := {**default, name: end}) not in found]
    return found


def check(device: Device, quota: int) -> None:
    """Raise `BadDevice` for a device that no profile can be made of, or not with so few measurements."""
    integers = {one.name for one in device.parameters if one.kind == "integer"}
    problems = [f"it has no metric {name}" for name in (THROUGHPUT, *COUNTERS) if name not in device.metric]
    if FLOWS not in integers or FLOWS not in {one.name for one in _of(device, TRAFFIC)}:
        problems.append(f"it has no integer parameter {FLOWS} of the component {TRAFFIC}")
    if not _of(device, CONTENTION):
        problems.append(f"it has no integer parameter of the component {CONTENTION}: nothing competes with the function")
    if _of_memory(device, quota) < FEWEST_OF_MEMORY:
        problems.append(f"its accelerator takes {MOST_RUNS} measurements, so the quota must be at least {MOST_RUNS + FEWEST_OF_MEMORY}")
    if problems:
        raise BadDevice(f"{device.name} cannot be profiled: " + "; ".join(problems))


def _of(device: Device, component: str) -> tuple[Parameter, ...]:
    return tuple(one for one in device.parameters if one.component == component and one.kind == "integer")


def attributes(device: Device) -> dict[str, Attribute]:
    """Ranges of the traffic that the memory profile varies; matches belong to the accelerator's."""
    return {
        one.name: Attribute(float(one.minimum), float(one.maximum), float(device.default[one.name]))  # type: ignore[arg-type]
        for one in _of(device, TRAFFIC)
        if one.name != MATCHES
    }


def configuration(device: Device, traffic: Traffic, contention: float) -> Config:
    """Traffic and a bench: none at contention 0, else a random one that belongs to the number."""
    config = {**alone(device), **{name: _nearest(device.by_name[name], value) for name, value in traffic.items()}}
    if contention > 0:
        random = np.random.default_rng(int(contention * 2**53))
        for one in _of(device, CONTENTION):
            config[one.name] = one.between(one.minimum, one.maximum, float(random.uniform(0.0, 1.0)))
    return config


def _nearest(parameter: Parameter, value: float) -> int:
    return parameter.at(min(max(round((value - parameter.minimum) / parameter.step), 0), parameter.size - 1))


def engine_rows(found: FunctionProfile) -> list[tuple[float, ...]]:
    """Match-to-byte ratio and the function's time per packet at the accelerator (1/kpps), of each ratio; queues and packet size.

    Two points of the line that was fitted to all runs: means of each ratio would weigh a few noisy runs as much as many.
    """
    engine = found.accelerator.engine
    if engine is None:
        return []
    ratios = [run.matches for run in found.accelerator.runs]
    known = (engine.queues, found.packet_bytes) if found.packet_bytes > 0 else ()
    return [(matches, engine.service_time(matches), *known) for matches in (min(ratios), max(ratios))]


def as_text(rows: Sequence[Sequence[float]]) -> str:
    """Blank-separated rows without a header, as `wallwatch nf train` reads them."""
    return "".join(" ".join(f"{value:.10g}" for value in row) + "\n" for row in rows)
