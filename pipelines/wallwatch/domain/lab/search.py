"""A search for what makes a device fall over: the entry point of the lab."""

from __future__ import annotations

import random
from dataclasses import replace

from wallwatch.domain.lab.adaptive import Adaptive
from wallwatch.domain.lab.device import Config, Device
from wallwatch.domain.lab.evidence import usable_tests
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.judge_report import baseline_of, chance_notes, noise_of
from wallwatch.domain.lab.models import fit_models
from wallwatch.domain.lab.report import Report
from wallwatch.domain.lab.sampling import Sampler
from wallwatch.domain.lab.separated import separated
from wallwatch.domain.lab.strategies import BASELINES
from wallwatch.domain.lab.tester import Options, SearchEnd, Tester
from wallwatch.domain.lab.topology import Topology

HEALTHY_TRIES = 30


def run_lab(device: Device, tester: Tester, options: Options) -> Report:
    """Find the causes of every symptom and degradation of a device with few tests.

    The same device, options and answers give the same tests in the same order. A tester that raises `SearchEnd` ends the search; the
    report is marked incomplete then and says what would be tested next.
    """
    rng = random.Random(options.seed)  # noqa: S311 - draws configurations, no secrets
    topology = Topology(device)
    report = Report(device, options)
    if not topology.is_valid(device.default):
        free = {name: value for name, value in device.default.items() if name not in topology.parameters}
        default = topology.complete(free, rng, device.default)
        if default is None:
            report.stopped = "the device's topology allows no configuration: no way from every entry to an exit was found"
            return report
        device = replace(device, default=default)
        report.notes.append("The topology does not allow the default: the nearest valid configuration takes its place.")
    judge = Judge(device, tester)
    sampler = Sampler(device, topology, rng, options.only)
    try:
        healthy = _healthy(device, judge, sampler, report)
        if healthy is None:
            report.stopped = "no healthy configuration found: every one that was tried shows a symptom"
        else:
            strategy = BASELINES.get(options.strategy, Adaptive)
            strategy(judge, sampler, options, report, rng).run(healthy)
    except SearchEnd as end:
        report.stopped = str(end) or "stopped"
        report.next.append(_next_step(report))
    report.causes = separated(judge, report.causes)
    report.models = fit_models(device, usable_tests(judge), [one.cause for one in report.causes])
    report.operations = dict(judge.operations)
    report.resets = judge.resets
    report.noise = noise_of(judge)
    report.memory = judge.memory
    report.notes += chance_notes(judge)
    if judge.invalid:
        report.notes.append(f"The device called {judge.invalid} configurations invalid that its description allows.")
    return report


def _healthy(device: Device, judge: Judge, sampler: Sampler, report: Report) -> Config | None:
    """The default, or where that fails the first random configuration that does not."""
    healthy = judge.measure_baseline(device.default)
    report.baseline = baseline_of(judge, healthy)
    if healthy:
        return device.default
    judge.default_is_bad = True
    report.notes.append("The default configuration fails; a healthy one was looked for at random and is the reference.")
    for _ in range(HEALTHY_TRIES):
        config = sampler.valid(sampler.others(), ())
        if config is None:
            continue
        outcome = judge.observe(config, "baseline")
        if outcome.status == "ok" and not outcome.symptoms and judge.measure_baseline(config):
            report.baseline = baseline_of(judge, True)
            return config
    return None


def _next_step(report: Report) -> str:
    if report.options.strategy in BASELINES:
        return BASELINES[report.options.strategy].going_on
    strength = max(2, report.strength + 1)
    if strength > len(report.varied):
        return f"go on with more values of {', '.join(one.name for one in report.varied)}"
    return f"go on with combinations of {'two' if strength == 2 else strength} parameters"
