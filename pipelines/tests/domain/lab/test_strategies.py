"""The baselines on a small device with faults that are known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from wallwatch.domain.lab import strategies
from wallwatch.domain.lab.device import Config, Device, parse_device
from wallwatch.domain.lab.report import Report
from wallwatch.domain.lab.search import run_lab
from wallwatch.domain.lab.strategies import BASELINES, QUIET_ROWS
from wallwatch.domain.lab.tester import BudgetReached, Options, Outcome, Phase, Strategy
from wallwatch.domain.lab.topology import Topology

Fault = Callable[[Config], bool]
ALL: list[Strategy] = ["exhaustive", "random", "one-factor", "pairwise"]


def single(config: Config) -> bool:
    return int(str(config["masks"])) >= 37


def pair(config: Config) -> bool:
    return int(str(config["masks"])) >= 37 and config["mode"] == "b"


def triple(config: Config) -> bool:
    return pair(config) and config["offload"] is True


class FakeTester:
    """Answers from a fault; notes every configuration; ends after a budget."""

    def __init__(self, device: Device, fault: Fault, budget: int | None = None) -> None:
        self.topology = Topology(device)
        self.fault = fault
        self.budget = budget
        self.tested: list[Config] = []
        self.phases: list[Phase] = []
        self.batches: list[int] = []

    def test(self, config: Config, phase: Phase) -> Outcome:
        if self.budget is not None and len(self.tested) >= self.budget:
            raise BudgetReached("budget reached")
        assert self.topology.is_valid(config)
        self.tested.append(dict(config))
        self.phases.append(phase)
        bad = self.fault(config)
        return Outcome("ok", frozenset({"S6"} if bad else ()), {"bw_gbps": 40.0 if bad else 100.0})

    def test_all(self, configs: Sequence[Config], phase: Phase) -> list[Outcome]:
        self.batches.append(len(configs))
        return [self.test(one, phase) for one in configs]

    def reset(self, phase: Phase) -> None:
        raise AssertionError("this device has no memory")


def device(with_topology: bool = False, **changes: Any) -> Device:
    described: dict[str, Any] = {
        "protocol": "dut/1",
        "name": "small",
        "parameters": [
            {"name": "masks", "kind": "integer", "min": 1, "max": 64},
            {"name": "mode", "kind": "choice", "values": ["a", "b", "c"]},
            {"name": "offload", "kind": "boolean"},
            {"name": "events", "kind": "sequence", "values": ["x", "y", "z"]},
            {"name": "queues", "kind": "integer", "min": 1, "max": 4},
        ],
        "metrics": [{"name": "bw_gbps", "unit": "Gbit/s", "better": "higher"}],
        "symptoms": ["S6"],
        "default": {"masks": 1, "mode": "a", "offload": False, "events": ["x", "y", "z"], "queues": 1},
    }
    if with_topology:  # with mode b packets come out only with offload; with mode c never
        described["topology"] = {
            "entries": ["in"],
            "exits": ["out"],
            "edges": [
                {"from": "in", "to": "out", "when": {"mode": "a"}},
                {"from": "in", "to": "t1", "when": {"mode": "b"}},
                {"from": "in", "to": "t2", "when": {"mode": "c"}},
                {"from": "t1", "to": "out", "when": {"offload": True}},
                {"from": "t2", "to": "in", "when": {}},
            ],
        }
    return parse_device({**described, **changes})


def search(strategy: Strategy, fault: Fault, under_test: Device | None = None, **options: Any) -> tuple[Report, FakeTester]:
    under_test = under_test or device()
    tester = FakeTester(under_test, fault, options.get("budget"))
    return run_lab(under_test, tester, Options(strategy=strategy, **options)), tester


def conditions(report: Report) -> list[list[dict[str, Any]]]:
    return [sorted(one["conditions"], key=lambda c: str(c["parameter"])) for one in report.to_json()["causes"]]


MASKS = {"parameter": "masks", "op": ">=", "value": 37}
MODE = {"parameter": "mode", "op": "==", "value": "b"}
OFFLOAD = {"parameter": "offload", "op": "==", "value": True}


@pytest.mark.parametrize("strategy", ALL)
def test_every_strategy_finds_a_single_threshold(strategy: Strategy) -> None:
    report, tester = search(strategy, single)
    assert conditions(report) == [[MASKS]]
    assert report.complete
    [cause] = report.causes
    assert [(one.last_good, one.first_bad) for one in cause.thresholds] == [(36, 37)]
    assert single(cause.failing)
    assert not single(cause.passing)
    assert len(tester.tested) == sum(report.operations.values())


@pytest.mark.parametrize("strategy", ["exhaustive", "random", "pairwise"])
def test_strategies_that_combine_find_a_fault_of_two_parameters(strategy: Strategy) -> None:
    report, _ = search(strategy, pair)
    assert conditions(report) == [[MASKS, MODE]]


def test_one_factor_at_a_time_does_not_see_a_fault_of_two_parameters_and_says_so() -> None:
    report, _ = search("one-factor", pair)
    assert report.causes == []
    assert any("two parameters or more" in note for note in report.notes)


@pytest.mark.parametrize("strategy", ["exhaustive", "random"])
def test_a_fault_of_three_parameters_is_found(strategy: Strategy) -> None:
    report, _ = search(strategy, triple)
    assert conditions(report) == [[MASKS, MODE, OFFLOAD]]


@pytest.mark.parametrize("strategy", ALL)
def test_a_healthy_device_has_no_causes(strategy: Strategy) -> None:
    report, _ = search(strategy, lambda _: False)
    assert report.causes == []
    assert report.complete
    assert report.strength == {"exhaustive": 5, "random": 0, "one-factor": 1, "pairwise": 2}[strategy]


@pytest.mark.parametrize("strategy", ALL)
def test_nothing_invalid_is_ever_sent(strategy: Strategy) -> None:
    """The fake tester checks each configuration against the topology."""
    report, tester = search(strategy, single, device(with_topology=True))
    assert conditions(report) == [[MASKS]]
    assert report.complete
    modes = {one["mode"] for one in tester.tested}
    assert modes == ({"a"} if strategy == "one-factor" else {"a", "b"})


def test_exhaustive_tests_every_valid_combination_of_levels() -> None:
    _, tester = search("exhaustive", lambda _: False, device(with_topology=True))
    valid_pairs = 3  # (a, off), (a, on), (b, on)
    assert len({str(one) for one in tester.tested}) == 5 * valid_pairs * 6 * 4


def test_pairwise_covers_every_pair_of_choices_that_the_topology_allows() -> None:
    report, tester = search("pairwise", lambda _: False, device(with_topology=True))
    queues_by_mode = {(one["mode"], one["queues"]) for one in tester.tested}
    assert queues_by_mode == set(itertools.product("ab", range(1, 5)))
    masks_by_queues = {(one["masks"], one["queues"]) for one in tester.tested}
    assert set(itertools.product((1, 64), range(1, 5))) <= masks_by_queues
    assert any("rules out" in note for note in report.notes)
    assert len(tester.tested) < 60


def test_pairwise_with_one_parameter_tests_its_levels() -> None:
    report, tester = search("pairwise", single, only=("masks",))
    assert conditions(report) == [[MASKS]]
    assert {one["mode"] for one in tester.tested} == {"a"}


@pytest.mark.parametrize("strategy", ALL)
def test_only_restricts_what_varies(strategy: Strategy) -> None:
    report, tester = search(strategy, lambda _: False, device(with_topology=True), only=("masks", "queues"))
    assert report.complete
    assert {(one["mode"], one["offload"], one["events"]) for one in tester.tested} == {("a", False, ("x", "y", "z"))}


@pytest.mark.parametrize("strategy", ALL)
def test_a_parameter_outside_only_is_not_even_changed_to_make_a_configuration_valid(strategy: Strategy) -> None:
    """Mode b is valid with offload only, which must stay off."""
    report, tester = search(strategy, lambda _: False, device(with_topology=True), only=("mode", "queues"))
    assert report.complete
    assert {(one["mode"], one["offload"]) for one in tester.tested} == {("a", False)}
    assert {one["queues"] for one in tester.tested} == {1, 2, 3, 4}


@pytest.mark.parametrize("strategy", ALL)
def test_a_budget_is_never_exceeded_and_the_report_says_what_is_next(strategy: Strategy) -> None:
    report, tester = search(strategy, single, budget=9)
    assert len(tester.tested) == 9
    assert not report.complete
    assert report.stopped == "budget reached"
    assert report.next == [BASELINES[strategy].going_on]


@pytest.mark.parametrize("strategy", ALL)
def test_the_same_seed_gives_the_same_tests(strategy: Strategy) -> None:
    runs = [search(strategy, pair, device(with_topology=True), seed=7)[1].tested for _ in range(2)]
    assert runs[0] == runs[1]


def test_rows_go_out_in_parallel() -> None:
    report, tester = search("exhaustive", single, parallel=4)
    assert max(tester.batches) == 4
    assert conditions(report) == [[MASKS]]


def test_random_ends_after_many_configurations_without_a_new_cause() -> None:
    _, tester = search("random", lambda _: False)
    assert len(tester.tested) <= QUIET_ROWS + 5


def test_random_counts_again_from_each_new_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "QUIET_ROWS", 60)
    report, tester = search("random", triple, seed=4)
    assert len(report.causes) == 1
    last = max(i for i, phase in enumerate(tester.phases) if phase == "threshold")
    first = tester.phases.index("minimise")
    assert first > 10
    assert 55 <= len(tester.phases) - last - 1 <= 60


def test_an_order_of_operations_is_found_by_its_pair() -> None:
    def wrong_order(config: Config) -> bool:
        order = config["events"]
        assert isinstance(order, tuple)
        return order.index("z") < order.index("x")

    for strategy in ALL:
        report, _ = search(strategy, wrong_order)
        assert conditions(report) == [[{"parameter": "events", "op": "before", "value": ["z", "x"]}]]


def test_a_degradation_without_symptom_is_a_cause_of_its_metric() -> None:
    class Slow(FakeTester):
        def test(self, config: Config, phase: Phase) -> Outcome:
            outcome = super().test(config, phase)
            return Outcome("ok", frozenset(), outcome.metrics)

    under_test = device()
    report = run_lab(under_test, Slow(under_test, single), Options(strategy="one-factor"))
    [cause] = report.to_json()["causes"]
    assert (cause["symptom"], cause["metric"]) == (None, "bw_gbps")
    assert cause["conditions"] == [MASKS]
    assert cause["effect"]["bw_gbps"]["change"] == pytest.approx(-0.6)


def test_a_default_that_fails_is_itself_reduced() -> None:
    report, _ = search("one-factor", lambda config: config["mode"] == "a")
    [[condition]] = conditions(report)
    assert condition == {"parameter": "mode", "op": "==", "value": "a"}
    assert any("default configuration fails" in note for note in report.notes)


@pytest.mark.parametrize("strategy", ALL)
def test_two_independent_faults_of_one_symptom_are_two_causes(strategy: Strategy) -> None:
    report, _ = search(strategy, lambda config: single(config) or config["mode"] == "c")
    assert sorted(map(str, conditions(report))) == sorted([str([MASKS]), str([{"parameter": "mode", "op": "==", "value": "c"}])])
