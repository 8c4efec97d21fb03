"""Placement with profiles of at most 50 noisy measurements per function: waste and broken SLAs of batches of 500 arrivals. One core.

The sequences are those of `placement`. `at_once`: all measurements are spread over the competitors' loads before anything is placed.
`where_it_matters`: 26 per function are; the rest, 24 per function on average, is measured in four rounds where a daring placement is least
certain (`wallwatch nf place --measure`). WALLWATCH_SEQUENCES sets how many sequences, WALLWATCH_FIRST_SEQUENCE the number of the first,
WALLWATCH_RISK what `--risk` is.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from tests.bench.placement import ARRIVALS, FIRST, KINDS, functions, predictions
from tests.bench.report import report

from wallwatch.domain.contention.batch_placement import Array, Places, fewest_cards
from wallwatch.domain.contention.measured_curve import fit
from wallwatch.domain.contention.placement import Feasibility, Kind, Placed, violations
from wallwatch.domain.contention.sharing import Batch, Resident
from wallwatch.domain.contention.worth_measuring import DARING, next_measurements

QUOTA, SPREAD, ROUNDS = 50, 26, 4
LARGEST_LOAD = 7.5
RISK = float(os.environ.get("WALLWATCH_RISK", "0.02"))


@dataclass
class Measured:
    """What was measured of one function."""

    true: Resident
    noise: float
    random: np.random.Generator
    rows: list[tuple[float, float]] = field(default_factory=list)

    def measure(self, load: float, repeats: int = 1) -> None:
        loads, drops = zip(*self.true.memory_curve, strict=True)
        right = self.true.solo * (1 - float(np.interp(load, loads, drops)))
        self.rows += [(load, right * float(1 + self.random.normal(0, self.noise))) for _ in range(repeats)]

    def measure_spread(self, count: int) -> None:
        alone = count // 4
        self.measure(0.0, alone)
        for load in np.linspace(0.15, LARGEST_LOAD, count - alone):
            self.measure(float(load))

    def resident(self) -> Resident:
        curve = fit(self.rows)
        return replace(self.true, memory_curve=curve.points, memory_errors=curve.errors)


def chances_of(residents: Sequence[Resident]) -> Feasibility:
    """Predictions with what is known of their errors."""
    of = {resident.kind: resident for resident in residents}

    def chances(kinds: Sequence[Kind], combinations: Places) -> Array:
        return Batch([of[kind] for kind in kinds]).chances(combinations)

    return replace(predictions(residents), chances=chances)


def placed_after(rounds: int, noise: float, random: np.random.Generator, true: Sequence[Resident], wanted: Sequence[int]) -> Placed:
    """The placement after rounds of measurements; without rounds, the whole quota is spread."""
    measured = [Measured(each, noise, random) for each in true]
    by_name = {each.true.kind.name: each for each in measured}
    for each in measured:
        each.measure_spread(SPREAD if rounds else QUOTA)
    while True:
        residents = [each.resident() for each in measured]
        placed, _ = fewest_cards([residents[at].kind for at in wanted], chances_of(residents), 20.0, DARING if rounds else RISK)
        if not rounds:
            return placed
        left = QUOTA * KINDS - sum(len(each.rows) for each in measured)
        for test in next_measurements(placed.cards, {one.kind: one for one in residents}, left // rounds):
            by_name[test.function].measure(test.memory_load, test.repeats)
        rounds -= 1


def run(rounds: int, noise: float, sequences: int) -> dict[str, float]:
    """Totals over the sequences."""
    cards = bound = broken = worst = 0
    seconds = []
    for seed in range(FIRST, FIRST + sequences):
        random = np.random.default_rng(seed)
        true, _ = functions(random, 0.0)
        wanted = random.integers(0, KINDS, ARRIVALS).tolist()
        truth = predictions(true)
        bound += fewest_cards([true[at].kind for at in wanted], truth)[1] or 0
        begin = time.process_time()
        placed = placed_after(rounds, noise, random, true, wanted)
        seconds.append(time.process_time() - begin)
        lost = sum(violations(card, truth.drops) for card in placed.cards)
        cards, broken, worst = cards + len(placed.cards), broken + lost, max(worst, lost)
    return {
        "waste_percent": round(100 * (cards / bound - 1), 2),
        "violations_percent": round(100 * broken / (sequences * ARRIVALS), 2),
        "violations_worst_sequence_percent": round(100 * worst / ARRIVALS, 2),
        "cpu_s_per_batch": round(float(np.median(seconds)), 2),
    }


def main() -> None:
    sequences = int(os.environ.get("WALLWATCH_SEQUENCES", "10"))
    for noise in (0.01, 0.03):
        for name, rounds in (("at_once", 0), ("where_it_matters", ROUNDS)):
            report(f"measured placement {name}, {noise:.0%} noise", sequences=sequences, risk=RISK, **run(rounds, noise, sequences))


if __name__ == "__main__":
    main()
