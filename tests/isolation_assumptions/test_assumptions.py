"""The detector holds where one assumption differs; `python -m tests.isolation_assumptions` judges all of them."""

import pytest
from tests.isolation_assumptions.judging import Score, judge
from tests.isolation_assumptions.variations import kinds_of, make

CHANGED = ("2 VFs", "drops at the port only", "rx counters include the lost packets", "egress: not stated, keep their rate")


@pytest.mark.parametrize(("variation", "kind"), [(one, kind) for one in CHANGED for kind in kinds_of(one)])
def test_the_detector_holds(variation: str, kind: str) -> None:
    score = Score()
    for seed in (1, 2):
        judge(variation, kind, seed, score)
    assert score.invented == 0, score.wrong
    if kind == "near miss":
        assert score.broken == 0
        return
    assert score.broken > 10
    assert (score.recall or 0.0) >= (0.93 if kind == "egress" else 0.99), score.wrong
    assert (score.aggressors, score.mechanism) == (1.0, 1.0), score.wrong


def test_the_same_seed_makes_the_same_series() -> None:
    assert make("base case", "storm", 7)[1].rows == make("base case", "storm", 7)[1].rows
    assert make("base case", "storm", 7)[1].rows != make("base case", "storm", 8)[1].rows


def test_what_the_engine_loses_is_what_it_was_offered_too_much() -> None:
    world, played = make("base case", "storm", 3)
    assert world.incidents
    broken = {second.t for second in played.seconds if second.broken}
    for incident in world.incidents:
        inside = {float(second + 1) for second in range(incident.start // 10 + 1, incident.end // 10)}
        assert inside <= broken
