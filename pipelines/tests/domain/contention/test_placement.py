"""Placement against the mechanism of contention, its baselines, and an exhaustive search."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from wallwatch.domain.contention.batch_placement import Array, Places, fewest_cards
from wallwatch.domain.contention.placement import Feasibility, Kind, Policy, expected_violations, place, violations

KINDS = tuple(Kind(f"nf{at}", 2, sla) for at, sla in enumerate((0.05, 0.08, 0.1, 0.15, 0.2, 0.2)))
LOAD = dict(zip(KINDS, (0.3, 1.0, 2.0, 0.1, 1.4, 0.6), strict=True))
SENSITIVITY = dict(zip(KINDS, (0.06, 0.03, 0.05, 0.12, 0.04, 0.08), strict=True))


def truth(residents: tuple[Kind, ...]) -> list[float]:
    """Drop of each resident: saturating in what the others do."""
    whole = sum(LOAD[kind] for kind in residents)
    return [1 - 1 / (1 + SENSITIVITY[kind] * (whole - LOAD[kind])) for kind in residents]


def predicted(residents: tuple[Kind, ...]) -> list[float]:
    """The truth with an error of 3% of what is left, the same for the same residents."""
    random = np.random.default_rng(sum(ord(letter) * at for at, letter in enumerate("".join(k.name for k in residents), 1)))
    return [1 - (1 - drop) * random.normal(1.0, 0.005) for drop in truth(residents)]


def arrivals(size: int, seed: int) -> list[Kind]:
    random = np.random.default_rng(seed)
    return [KINDS[at] for at in random.integers(0, len(KINDS), size)]


def broken(cards: tuple[tuple[Kind, ...], ...]) -> int:
    return sum(violations(card, truth) for card in cards)


def test_no_sla_breaks_where_predictions_are_right() -> None:
    placed = place(arrivals(200, 1), Feasibility(truth, 8))
    assert broken(placed.cards) == 0
    assert sum(len(card) for card in placed.cards) == 200
    assert all(sum(kind.cores for kind in card) <= 8 for card in placed.cards)


def test_the_assignment_is_that_of_the_cards() -> None:
    wanted = arrivals(60, 2)
    for placed in (place(wanted, Feasibility(truth, 8)), fewest_cards(wanted, Feasibility(truth, 8))[0]):
        assert None not in placed.assignment
        for at, card in enumerate(placed.cards):
            names = sorted(kind.name for kind, to in zip(wanted, placed.assignment, strict=True) if to == at)
            assert names == [kind.name for kind in card]


def test_a_batch_is_placed_on_the_proven_fewest_cards() -> None:
    feasible = Feasibility(truth, 8)
    for seed in range(5):
        wanted = arrivals(200, seed)
        best, bound = fewest_cards(wanted, feasible)
        assert bound is not None
        assert len(best.cards) == bound <= len(place(wanted, feasible).cards)
        assert broken(best.cards) == 0


def test_functions_that_are_all_different_take_fewer_cards_than_one_by_one() -> None:
    random = np.random.default_rng(4)
    wanted = [Kind(f"f{at}", 2, float(random.uniform(0.05, 0.2))) for at in range(120)]
    load = {kind: float(random.uniform(0.1, 2.0)) for kind in wanted}

    def drops(residents: tuple[Kind, ...]) -> list[float]:
        whole = sum(load[kind] for kind in residents)
        return [0.06 * (whole - load[kind]) for kind in residents]

    def many(kinds: Sequence[Kind], combinations: Places) -> Array:
        loads = np.array([load[kind] for kind in kinds])[combinations]
        return np.asarray(0.06 * (loads.sum(axis=1, keepdims=True) - loads))

    feasible = Feasibility(drops, 8, many=many)
    placed, bound = fewest_cards(wanted, feasible)
    assert bound is None, "not every combination was tried"
    assert sum(violations(card, drops) for card in placed.cards) == 0
    assert sorted(kind.name for card in placed.cards for kind in card) == sorted(kind.name for kind in wanted)
    assert len(placed.cards) < len(place(wanted, feasible).cards)


def test_the_risk_of_a_batch_is_kept_and_buys_cards() -> None:
    uncertain = [replace(kind, error=0.01) for kind in KINDS]
    of = dict(zip(uncertain, KINDS, strict=True))
    wanted = [uncertain[at] for at in np.random.default_rng(2).integers(0, len(KINDS), 300)]
    feasible = Feasibility(lambda residents: truth(tuple(of[kind] for kind in residents)), 8)
    cards = []
    for risk in (0.002, 0.01, 0.05):
        placed, _ = fewest_cards(wanted, feasible, risk=risk)
        assert sum(expected_violations(card, feasible.drops) for card in placed.cards) <= risk * len(wanted) * 1.001
        cards.append(len(placed.cards))
    assert cards == sorted(cards, reverse=True)
    assert cards[0] > cards[-1]
    one_by_one = place(wanted, feasible)
    assert all(
        drop + kind.error <= kind.most_drop
        for card in one_by_one.cards
        if len(card) > 1
        for kind, drop in zip(card, feasible.drops(card), strict=True)
    )


def test_the_integer_program_agrees_with_trying_everything() -> None:
    feasible = Feasibility(truth, 8)
    for seed in range(4):
        wanted = arrivals(6, seed)
        fewest = min(
            len(set(choice))
            for choice in product(range(6), repeat=6)
            if all(feasible.keeps([k for k, to in zip(wanted, choice, strict=True) if to == card]) for card in set(choice))
        )
        assert len(fewest_cards(wanted, feasible)[0].cards) == fewest


def test_noisy_predictions_break_few_slas_and_greedy_breaks_many() -> None:
    placed = kept = greedy = 0
    for seed in range(5):
        wanted = arrivals(200, seed)
        placed += len(wanted)
        kept += broken(place(wanted, Feasibility(predicted, 8)).cards)
        greedy += broken(place(wanted, Feasibility(predicted, 8), Policy.GREEDY, most_cards=50).cards)
    assert kept / placed <= 0.05
    assert greedy > 3 * kept


def test_a_margin_trades_cards_for_fewer_violations() -> None:
    wanted = arrivals(300, 7)
    plain = place(wanted, Feasibility(predicted, 8))
    careful = place(wanted, Feasibility(predicted, 8, margin=0.02))
    assert broken(careful.cards) == 0
    assert len(careful.cards) >= len(plain.cards)


def test_monopolise_takes_a_card_each() -> None:
    assert len(place(arrivals(30, 3), Feasibility(truth, 8), Policy.MONOPOLISE).cards) == 30


def test_what_does_not_fit_is_left_without_a_card_and_counted() -> None:
    placed = place(arrivals(30, 3), Feasibility(truth, 8), most_cards=2)
    assert len(placed.cards) == 2
    assert placed.assignment.count(None) == 30 - sum(len(card) for card in placed.cards)


def test_a_function_larger_than_a_card_is_refused() -> None:
    with pytest.raises(ValueError, match="needs 16 cores"):
        place([Kind("large", 16, 0.1)], Feasibility(truth, 8))


def test_five_hundred_arrivals_need_few_predictions() -> None:
    asked: list[tuple[Kind, ...]] = []

    def counting(residents: tuple[Kind, ...]) -> list[float]:
        asked.append(residents)
        return truth(residents)

    place(arrivals(500, 1), Feasibility(counting, 8))
    assert len(asked) == len(set(asked)) < 210  # all combinations of at most four of six kinds


def test_who_is_left_out_of_a_combination_does_not_break_the_others() -> None:
    """Learnt models may predict more loss for two than for three: covering the third twice would save a card and break an SLA."""
    x, y, z = (Kind(name, 2, 0.1) for name in "xyz")

    def drops(residents: tuple[Kind, ...]) -> list[float]:
        return [0.0 if set(residents) in ({x, y, z}, {x, z}, {y, z}) and len(set(residents)) == len(residents) else 0.5 for _ in residents]

    arrivals = [x, y, x, y, z]
    placed, _ = fewest_cards(arrivals, Feasibility(drops, 6))
    assert sum(violations(card, drops) for card in placed.cards) == 0
    assert sorted(kind.name for card in placed.cards for kind in card) == ["x", "x", "y", "y", "z"]
    assert [placed.cards[at].count(kind) > 0 for at, kind in zip(placed.assignment, arrivals, strict=True) if at is not None] == [True] * 5
