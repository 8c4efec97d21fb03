"""Predictions for many cards at once are those of each card alone."""

import numpy as np
import pytest
from pipelines.tests.domain.contention.examples import model, occupant

from wallwatch.domain.contention.card import Card, Occupant, Traffic
from wallwatch.domain.contention.card_batch import CardBatch
from wallwatch.domain.contention.composition import Pattern


@pytest.fixture(scope="module")
def kinds() -> list[Occupant]:
    waiting = occupant("d", "ids", 20_000, mtbr=500, model=model("ids", Pattern.RUN_TO_COMPLETION))
    return [
        occupant("a", "firewall"),
        occupant("b", "nat", 40_000),
        occupant("c", "ids", mtbr=600),
        waiting,
        occupant("e", "ids", mtbr=900, offered=150.0),
    ]


@pytest.mark.parametrize("residents", [1, 2, 4, 30])  # of 30, there are more sets of competitors than a number can hold
@pytest.mark.parametrize("cautious", [False, True])
def test_many_cards_are_predicted_as_each_alone(kinds: list[Occupant], residents: int, cautious: bool) -> None:
    combinations = np.random.default_rng(residents).integers(0, len(kinds), (40, residents))
    batch = CardBatch(kinds)
    batch.throughput(combinations[::-1], cautious)  # what is remembered of it must not change anything
    found = batch.throughput(combinations, cautious)
    for row, throughputs in zip(combinations, found, strict=True):
        card = Card([kinds[at] for at in row])
        assert throughputs == pytest.approx([card.throughput(at, cautious) for at in range(residents)], rel=1e-6)


def test_a_kind_without_a_model_is_refused() -> None:
    with pytest.raises(ValueError, match="x has no model"):
        CardBatch([Occupant("x", Traffic(1.0))])
