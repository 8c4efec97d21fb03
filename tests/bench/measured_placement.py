"""Placement with profiles of at most 50 noisy measurements per function: waste and broken SLAs of batches of 500 arrivals. One core.

The sequences are those of `placement`. `at_once`: all measurements are spread over the competitors' loads before anything is placed.
`where_it_matters`: 26 per function are; the rest, 24 per function on average, is measured in four rounds where a daring placement is least
certain (`wallwatch nf place --measure`). WALLWATCH_SEQUENCES sets how many sequences, WALLWATCH_FIRST_SEQUENCE the number of the first,
WALLWATCH_RISK what `--risk` is, WALLWATCH_NOISE the errors of throughput, WALLWATCH_METHOD one of the two. WALLWATCH_KEEP is a file with a
line for each sequence that is done: it is not run again, so the same command continues a run that was stopped.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from tests.bench.placement import ARRIVALS, FIRST, KINDS, functions, predictions
from tests.bench.report import report

from wallwatch.domain.contention.batch_placement import Array, Places, fewest_cards
from wallwatch.domain.contention.measured_curve import fit
from wallwatch.domain.contention.placement import Feasibility, Kind, Placed, violations
from wallwatch.domain.contention.sharing import Batch, Resident
from wallwatch.domain.contention.worth_measuring import DARING, next_measurements

QUOTA, SPREAD = 50, 26
METHODS = {"at_once": 0, "where_it_matters": 4}
"""Rounds of measurements after the first."""
LARGEST_LOAD = 7.5
RISK = float(os.environ.get("WALLWATCH_RISK", "0.02"))
SECONDS = 600.0
"""Of the clock, for the integer program: so many that its result does not depend on what else the machine does."""


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
        placed, _ = fewest_cards([residents[at].kind for at in wanted], chances_of(residents), SECONDS, DARING if rounds else RISK)
        if not rounds:
            return placed
        left = QUOTA * KINDS - sum(len(each.rows) for each in measured)
        for test in next_measurements(placed.cards, {one.kind: one for one in residents}, left // rounds):
            by_name[test.function].measure(test.memory_load, test.repeats)
        rounds -= 1


@dataclass(frozen=True)
class Outcome:
    """Of one sequence."""

    method: str
    noise: float
    risk: float
    sequence: int
    cards: int
    bound: int
    broken: int
    cpu_s: float


def placed_sequence(method: str, noise: float, sequence: int) -> Outcome:
    random = np.random.default_rng(sequence)
    true, _ = functions(random, 0.0)
    wanted = random.integers(0, KINDS, ARRIVALS).tolist()
    truth = predictions(true)
    bound = fewest_cards([true[at].kind for at in wanted], truth, SECONDS)[1]
    assert bound is not None, "so few kinds have a proven bound"
    begin = time.process_time()
    placed = placed_after(METHODS[method], noise, random, true, wanted)
    seconds = time.process_time() - begin
    broken = sum(violations(card, truth.drops) for card in placed.cards)
    return Outcome(method, noise, RISK, sequence, len(placed.cards), bound, broken, round(seconds, 2))


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Totals over the sequences, with the standard error of their mean, by sequence."""
    waste = [100 * (each.cards / each.bound - 1) for each in outcomes]
    broken = [100 * each.broken / ARRIVALS for each in outcomes]
    several = len(outcomes) > 1
    return {
        "sequences": len(outcomes),
        "waste_percent": round(100 * (sum(each.cards for each in outcomes) / sum(each.bound for each in outcomes) - 1), 2),
        "waste_standard_error": round(float(np.std(waste, ddof=1) / np.sqrt(len(waste))), 2) if several else 0.0,
        "waste_worst_sequence_percent": round(max(waste), 2),
        "violations_percent": round(float(np.mean(broken)), 2),
        "violations_standard_error": round(float(np.std(broken, ddof=1) / np.sqrt(len(broken))), 2) if several else 0.0,
        "violations_worst_sequence_percent": round(max(broken), 2),
        "sequences_above_2_percent": sum(each > 2 for each in broken),
        "cpu_s_per_batch": round(float(np.median([each.cpu_s for each in outcomes])), 2),
    }


def run(method: str, noise: float, sequences: int, kept: Path | None) -> dict[str, float]:
    """The summary of the sequences; those in the file are taken from it, the others appended to it."""
    lines = kept.read_text().splitlines() if kept and kept.exists() else []
    done = {(each.method, each.noise, each.risk, each.sequence): each for each in (Outcome(**json.loads(line)) for line in lines)}
    outcomes = []
    for sequence in range(FIRST, FIRST + sequences):
        outcome = done.get((method, noise, RISK, sequence))
        if outcome is None:
            outcome = placed_sequence(method, noise, sequence)
            if kept:
                with kept.open("a") as file:
                    file.write(json.dumps(asdict(outcome)) + "\n")
        outcomes.append(outcome)
    return summary(outcomes)


def main() -> None:
    sequences = int(os.environ.get("WALLWATCH_SEQUENCES", "10"))
    kept = os.environ.get("WALLWATCH_KEEP")
    for noise in map(float, os.environ.get("WALLWATCH_NOISE", "0.01,0.03").split(",")):
        for method in os.environ.get("WALLWATCH_METHOD", ",".join(METHODS)).split(","):
            report(
                f"measured placement {method}, {noise:.0%} noise", risk=RISK, **run(method, noise, sequences, Path(kept) if kept else None)
            )


if __name__ == "__main__":
    main()
