"""Waves of a rollout, and when the next one starts."""

import pytest

from wallwatch_backend.remedies.rollouts.waves import STOPS, judge, waves_of


@pytest.mark.parametrize(
    ("count", "canary", "growth", "sizes"),
    [
        (0, 1, 3.0, []),
        (1, 1, 3.0, [1]),
        (5, 5, 2.0, [5]),
        (6, 5, 2.0, [5, 1]),
        (10, 1, 1.0, [1] * 10),
        (10, 2, 1.5, [2, 3, 4, 1]),
        (7, 1, 0.1, [1] * 7),  # a wave is never empty
    ],
)
def test_targets_are_divided_in_their_order_and_none_is_left_out(count: int, canary: int, growth: float, sizes: list[int]) -> None:
    waves = waves_of(range(count), canary, growth)
    assert [len(wave) for wave in waves] == sizes
    assert [target for wave in waves for target in wave] == list(range(count))


@pytest.mark.parametrize(
    ("states", "wanted", "verdict"),
    [
        ({}, 2, "wait"),
        ({"h1": "confirmed"}, 2, "wait"),  # the other one has not been ordered yet
        ({"h1": "confirmed", "h2": "running"}, 2, "wait"),
        ({"h1": "confirmed", "h2": "verifying"}, 2, "wait"),
        ({"h1": "confirmed", "h2": "confirmed"}, 2, "next"),
        ({"h1": "confirmed", "h2": "confirmed"}, 3, "wait"),
        ({}, 0, "next"),
    ],
)
def test_the_next_wave_starts_when_all_remedies_of_this_one_are_confirmed(states: dict[str, str], wanted: int, verdict: str) -> None:
    assert judge(states, wanted) == (verdict, "")


@pytest.mark.parametrize("state", sorted(STOPS))
def test_one_remedy_that_went_wrong_stops_the_rollout_whatever_the_others_do(state: str) -> None:
    for others in ({}, {"h1": "confirmed"}, {"h1": "running"}):
        verdict, why = judge({**others, "h2": state}, 2)
        assert verdict == "stop"
        assert why.startswith("the remedy on h2 ")


def test_of_several_that_went_wrong_the_first_is_named() -> None:
    assert judge({"h3": "failed", "h2": "rejected", "h1": "confirmed"}, 3)[1].startswith("the remedy on h2 ")
