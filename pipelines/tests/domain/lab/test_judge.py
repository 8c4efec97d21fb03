"""Verdicts: health, noise, repeats, what one symptom hides of another, and a device that remembers."""

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.lab.conditions import Signal
from wallwatch.domain.lab.device import Config, Metric
from wallwatch.domain.lab.judge import CONTROL_EVERY, ERRORS_TO_STOP, MOST_REPEATS, Judge
from wallwatch.domain.lab.judge_report import noise_of
from wallwatch.domain.lab.metric_level import metric_level
from wallwatch.domain.lab.tester import Outcome, Phase, Stopped

from .planted import HEALTHY_GBPS, Behaviour, PlantedTester, boolean, device_of, fails_when, integer

MASKS = (integer("masks", 1, 64), boolean("offload"))
DEVICE = device_of(*MASKS)
MEMORY = device_of(*MASKS, sequential=True)
S6 = Signal("S6")
SLOW = Signal(None, "bw_gbps")


def many_masks(config: Config) -> bool:
    return config["masks"] in range(32, 65)


def judge_of(behaviour: Behaviour, device: Any = DEVICE, **tester: Any) -> tuple[Judge, PlantedTester]:
    planted = PlantedTester(device, behaviour, **tester)
    judge = Judge(device, planted)
    assert judge.measure_baseline(device.default)
    return judge, planted


def at(masks: int, offload: bool = False) -> Config:
    return {"masks": masks, "offload": offload}


@settings(derandomize=True)
@given(st.sampled_from(["higher", "lower"]), st.floats(1, 1e6), st.floats(-0.5, 0.5))
def test_a_value_is_degraded_from_five_percent_on_in_the_bad_direction(better: Any, median: float, change: float) -> None:
    level = metric_level(Metric("m", "", better), [median] * 5)
    loss = -change if better == "higher" else change
    assert level.loss(median * (1 + change)) == pytest.approx(loss, abs=1e-9)
    if abs(loss - 0.05) > 1e-6:
        assert level.is_suspect(median * (1 + change)) == (loss > 0.05)


def test_a_baseline_without_noise_takes_five_tests_and_a_noisy_one_more() -> None:
    assert len(judge_of(fails_when(many_masks))[1].sent) == 5
    assert len(judge_of(fails_when(many_masks), noise=0.05)[1].sent) == 16


def test_a_default_that_fails_is_not_healthy() -> None:
    assert not Judge(DEVICE, PlantedTester(DEVICE, fails_when(lambda _: True))).measure_baseline(DEVICE.default)


def test_what_was_observed_is_not_asked_again() -> None:
    judge, tester = judge_of(fails_when(many_masks))
    assert [judge.decide(at(40), S6, "discover") for _ in range(3)] == [True] * 3
    assert judge.decide(at(1), S6, "discover") is False
    assert len(tester.sent) == 6


def test_a_symptom_that_stops_the_device_hides_others_until_both_were_seen_together() -> None:
    def behaviour(config: Config) -> Any:
        if config["offload"]:
            return ["S3"], {"bw_gbps": 0.0}
        return (["S6"] if many_masks(config) else []), {"bw_gbps": HEALTHY_GBPS}

    judge, _ = judge_of(behaviour)
    assert judge.decide(at(1, offload=True), S6, "discover") is None
    assert judge.decide(at(1, offload=True), Signal("S3"), "discover") is True
    assert judge.decide(at(40), Signal("S3"), "discover") is False, "S6 leaves the device alive"


def test_a_metric_next_to_a_symptom_says_nothing() -> None:
    judge, _ = judge_of(fails_when(many_masks))
    assert judge.decide(at(40), SLOW, "discover") is None
    assert [str(one) for one in judge.signals(judge.observe(at(40), "discover"), None)] == ["S6"]
    assert judge.signals(judge.observe(at(40), "discover"), "bw_gbps") == []


def test_a_device_that_disagrees_with_itself_is_judged_by_repeats_from_then_on() -> None:
    judge, _ = judge_of(fails_when(many_masks), flip=0.1, noise_seed=1)
    for _ in range(10):
        if judge.doubt(at(40), S6, "discover", times=8):
            break
    assert judge.is_flaky
    right = [judge.decide(at(masks), S6, "discover") == (masks >= 32) for masks in range(2, 60)]
    assert sum(right) >= 0.9 * len(right)
    assert max(len(one) for key, one in judge.seen.items() if key != DEVICE.key(DEVICE.default)) <= MOST_REPEATS
    assert 0 < noise_of(judge)["flip_rate"] < 1  # type: ignore[operator]  # a number, in a mapping of any value


def test_a_device_that_agrees_with_itself_is_not_called_flaky() -> None:
    judge, tester = judge_of(fails_when(many_masks))
    before = len(tester.sent)
    assert not judge.doubt(at(40), S6, "discover", times=2)
    assert len(tester.sent) == before + 3
    assert not judge.is_flaky


def test_a_threshold_that_is_blurred_does_not_make_the_whole_device_flaky() -> None:
    rng = random.Random(1)
    judge, _ = judge_of(lambda one: (["S6"] if one["masks"] == 32 and rng.random() < 0.5 else [], {"bw_gbps": HEALTHY_GBPS}))
    assert judge.doubt(at(32), S6, "verify", times=12, at_threshold=True)
    assert not judge.is_flaky


def test_errors_are_asked_again_and_end_the_search_when_there_are_too_many() -> None:
    judge, tester = judge_of(fails_when(many_masks), answers_errors=6)
    with pytest.raises(Stopped, match="device failed: the link is down"):
        judge.decide(at(40), S6, "discover")
    assert len(tester.sent) == 5 + ERRORS_TO_STOP


class _Once:
    """Answers one error or one `invalid`, then as it should."""

    def __init__(self, first: Outcome) -> None:
        self.answers = [first]

    def test(self, config: Config, phase: Phase) -> Outcome:
        return self.answers.pop() if self.answers else Outcome("ok", frozenset({"S6"}))

    def test_all(self, configs: Any, phase: Phase) -> list[Outcome]:
        return [self.test(one, phase) for one in configs]

    def reset(self, phase: Phase) -> None:
        raise AssertionError("nothing to reset")


def test_one_error_is_no_verdict() -> None:
    judge = Judge(DEVICE, _Once(Outcome("error")))
    assert judge.decide(at(1), S6, "discover") is True
    assert judge.operations == {"discover": 2}


def test_a_configuration_that_the_device_calls_invalid_has_no_verdict_and_is_counted() -> None:
    judge = Judge(DEVICE, _Once(Outcome("invalid", reason="no")))
    assert judge.decide(at(1), S6, "discover") is None
    assert judge.invalid == 1


def test_a_device_that_remembers_is_reset_before_the_test_after_a_bad_one() -> None:
    judge, tester = judge_of(fails_when(many_masks), MEMORY, damage=many_masks)
    begin = len(tester.sent)
    for masks in (40, 1, 2):
        judge.observe(at(masks), "discover")
    assert [key if key is None else key[0] for _, key in tester.sent[begin:]] == [40, None, 1, 2]
    assert judge.resets == tester.resets
    assert judge.spent == len(tester.sent)


def test_the_default_controls_a_device_that_remembers_now_and_then() -> None:
    judge, tester = judge_of(fails_when(many_masks), MEMORY)
    for masks in range(2, 31):
        judge.observe(at(masks), "discover")
    assert judge.controls >= (29 // CONTROL_EVERY)
    assert judge.controls_bad == 0
    assert [phase for phase, _ in tester.sent].count("control") == judge.controls


class _DefaultBreaks(PlantedTester):
    """After a test that looks good the default fails until a reset."""

    def test(self, config: Config, phase: Phase) -> Outcome:
        broken = config == self.device.default and any(one is not None and one[0] == 10 for one in self._since_reset())
        outcome = super().test(config, phase)
        return Outcome("ok", frozenset({"S6"})) if broken else outcome

    def _since_reset(self) -> list[Any]:
        keys = [key for _, key in self.sent]
        return keys[len(keys) - keys[::-1].index(None) :] if None in keys else keys


def test_a_control_that_disagrees_makes_it_reset_before_each_test() -> None:
    tester = _DefaultBreaks(MEMORY, fails_when(many_masks))
    judge = Judge(MEMORY, tester)
    assert judge.measure_baseline(MEMORY.default)
    for masks in range(2, 31):
        judge.observe(at(masks), "discover")
    assert judge.controls_bad == 1
    assert judge.reset_always
    begin = len(tester.sent)
    for masks in (5, 6, 7):
        judge.observe(at(masks), "discover")
    assert [key is None for _, key in tester.sent[begin:]].count(True) == 3


@pytest.mark.parametrize(("damage", "text"), [(many_masks, "does not recover until a reset"), (None, "recovers by itself")])
def test_whether_the_device_recovers_is_said(damage: Any, text: str) -> None:
    judge, tester = judge_of(fails_when(many_masks), MEMORY, damage=damage)
    judge.check_recovery(at(40), S6)
    assert judge.recovery[S6] is (damage is None)
    assert judge.memory is not None
    assert judge.memory["text"] == text
    assert judge.memory["after"] == {"masks": 40, "offload": False}
    judge.observe(at(1), "discover")
    assert tester.sent[-2][1] is None, "it is reset before the next test"


def test_a_metric_that_is_missing_has_no_verdict() -> None:
    judge, _ = judge_of(lambda one: ([], {} if one["offload"] else {"bw_gbps": HEALTHY_GBPS}))
    assert judge.decide(at(1, offload=True), SLOW, "discover") is None


def test_a_reproducer_of_a_noisy_metric_is_confirmed_by_new_tests_only() -> None:
    judge, _ = judge_of(lambda one: ([], {"bw_gbps": 60.0 if many_masks(one) else HEALTHY_GBPS}), noise=0.03)
    judge.seen[DEVICE.key(at(2))] = [Outcome("ok", metrics={"bw_gbps": 50.0})]
    assert not judge.is_confirmed(at(2), SLOW, "minimise")
    assert judge.is_confirmed(at(40), SLOW, "minimise")
