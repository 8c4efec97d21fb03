"""The judge accepts the truth and nothing less."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.lab_evaluation.expressions import Expression, Unreadable
from tests.lab_evaluation.judge import Verdict, judge
from tests.lab_evaluation.naive import pairwise_rows, random_rows, run_naive

from dut_zoo.conditions import Condition
from dut_zoo.device import Device
from dut_zoo.kinds import ALL, make
from dut_zoo.near import fresh
from dut_zoo.parameters import Integer
from dut_zoo.planted import Planted


def verdict(planted: Planted, causes: list[dict[str, Any]]) -> Verdict:
    return judge(planted, {"tests": 0, "causes": causes}, Device(planted).ledger)


def device(kind: str, *ops: str) -> tuple[Planted, list[dict[str, Any]]]:
    """The first device of a kind whose first condition has one of these operators, and its truth."""
    found = (make(kind, seed) for seed in range(1, 100))
    planted = next(one for one in found if not ops or getattr(one.faults[0].conditions[0], "op", "") in ops)
    return planted, copy.deepcopy(planted.truth())


@pytest.mark.parametrize("kind", list(ALL))
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_truth_is_right(kind: str, seed: int) -> None:
    planted = make(kind, seed)
    got = verdict(planted, planted.truth())
    assert got.right, got.wrong
    assert got.f1 == 1.0


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind != "healthy"])
def test_an_empty_report_is_wrong_where_something_is_planted(kind: str) -> None:
    got = verdict(make(kind, 1), [])
    assert not got.exact
    assert got.f1 == 0.0


def test_anything_reported_about_a_healthy_device_is_wrong() -> None:
    planted = make("healthy", 1)
    name = next(one.name for one in planted.parameters if isinstance(one, Integer))
    got = verdict(planted, [{"symptom": "S6", "metric": None, "conditions": [{"parameter": name, "op": ">=", "value": 7}]}])
    assert got.extra == 1
    assert not got.right


def test_a_threshold_may_be_off_by_one_step_and_no_more() -> None:
    planted, truth = device("threshold", ">=")
    condition = truth[0]["conditions"][0]
    parameter = planted.parameter(condition["parameter"])
    assert isinstance(parameter, Integer)
    condition["value"] += parameter.step
    assert verdict(planted, truth).exact
    condition["value"] += parameter.step
    assert not verdict(planted, truth).exact


def test_a_threshold_of_a_noisy_device_may_be_off_by_two_percent() -> None:
    for seed in range(1, 60):
        planted = make("noisy", seed)
        for place, condition in enumerate(planted.faults[0].conditions):
            parameter = planted.parameter(condition.names[0])
            if not isinstance(condition, Condition) or not isinstance(parameter, Integer) or parameter.count < 2000 or condition.op != ">=":
                continue
            span = condition.value if parameter.log else parameter.high - parameter.low
            for share, right in ((0.018, True), (-0.018, True), (0.025, False)):
                truth = planted.truth()
                truth[0]["conditions"][place]["value"] += span * share
                assert verdict(planted, truth).exact == right
            return
    pytest.fail("no noisy device with a threshold")


def test_a_missing_condition_one_too_many_another_operator_and_another_symptom_are_wrong() -> None:
    planted, truth = device("conjunction", ">=", "<=")
    missing, extra, turned, other = (copy.deepcopy(truth) for _ in range(4))
    missing[0]["conditions"].pop()
    used = planted.faults[0].names
    free = next(one for one in planted.parameters if isinstance(one, Integer) and one.name not in used)
    extra[0]["conditions"].append({"parameter": free.name, "op": ">=", "value": free.low})
    turned[0]["conditions"][0]["op"] = "<=" if truth[0]["conditions"][0]["op"] == ">=" else ">="
    other[0] |= {"symptom": "S99", "metric": None}
    for wrong in (missing, extra, turned, other, truth + truth):
        assert not verdict(planted, wrong).exact


def test_the_same_values_in_other_words_are_right() -> None:
    planted, truth = device("inequality", "!=")
    condition = truth[0]["conditions"][0]
    values = planted.parameter(condition["parameter"]).values  # type: ignore[union-attr]
    condition |= {"op": "in", "value": [value for value in values if value != condition["value"]]}
    assert verdict(planted, truth).right


def test_a_boundary_needs_its_parameters_and_good_predictions() -> None:
    planted = next(one for one in (make("boundary", seed) for seed in range(1, 60)) if len(one.faults[0].conditions) == 1)
    truth = copy.deepcopy(planted.truth())
    condition = truth[0]["conditions"][0]
    condition["value"] *= 1.005
    assert verdict(planted, truth).right
    condition["value"] *= 1.3
    got = verdict(planted, truth)
    assert got.exact
    assert not got.right


def test_an_unreadable_report_is_wrong_and_says_why() -> None:
    planted, truth = device("boundary")
    for changes in ({"expression": "__import__('os')"}, {"expression": "no_such*2"}, {"op": "=="}, {"value": "much"}):
        broken = copy.deepcopy(truth)
        place = next(number for number, one in enumerate(broken[0]["conditions"]) if one["parameter"] is None)
        broken[0]["conditions"][place] |= changes
        got = verdict(planted, broken)
        assert "unreadable" in got.wrong[0]
    assert "unreadable" in judge(planted, {"tests": 0}, Device(planted).ledger).wrong[0]


def test_invalid_configurations_and_a_wrong_count_spoil_a_report() -> None:
    planted = make("threshold", 1)
    sent = Device(planted)
    sent.test({"no_such": 1})
    assert not judge(planted, {"tests": 1, "causes": planted.truth()}, sent.ledger).right
    honest = Device(planted)
    honest.test({})
    honest.reset()
    assert judge(planted, {"tests": 2, "causes": planted.truth()}, honest.ledger).right
    assert not judge(planted, {"tests": 1, "causes": planted.truth()}, honest.ledger).right


def test_predictions_are_made_with_the_conditions_that_were_reported() -> None:
    planted, truth = device("conjunction")
    half = verdict(planted, [one | {"conditions": one["conditions"][:1]} for one in truth])
    assert 0 < half.f1 < 0.98
    assert len(fresh(planted, 2000, 0)) == 2000


def test_expressions_are_arithmetic_only() -> None:
    assert Expression("2*a + b/4 - log2(8)**2").of({"a": 3, "b": 8}) == pytest.approx(-1.0)
    assert Expression("a*b").names == {"a", "b"}
    for text in ("a.b", "f(a)", "a if b else 1", "[a]", "a*", 7):
        with pytest.raises(Unreadable):
            Expression(text)


def test_the_plain_labs_find_a_single_threshold_and_send_nothing_invalid() -> None:
    for rows in (random_rows, pairwise_rows):
        planted = make("threshold", 2)
        tested = Device(planted)
        report = run_naive(tested, rows, 1, 600)
        assert judge(planted, report, tested.ledger).right
        assert report["tests"] <= 600
        chained = Device(make("topology", 3))
        run_naive(chained, rows, 1, 300)
        assert chained.ledger.invalid == 0
