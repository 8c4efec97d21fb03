"""Placement of network functions: waste and broken SLAs of batches of 500 arrivals, and the CPU time of each. One core.

Each sequence has 36 kinds of functions of its own: curves of three shapes, loads, engines, patterns and SLAs of 5 to 20% at random.
Waste is against the proven fewest cards that keep every SLA. `exact`: curves as they are. `noisy`: seven points of each curve, measured
with an error of throughput; the function's description states the error of the curve (`drop_error`). The draw of the noise is new in each
sequence. WALLWATCH_SEQUENCES sets how many, WALLWATCH_FIRST_SEQUENCE the number of the first, WALLWATCH_RISK what `--risk` is.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from tests.bench.report import report

from wallwatch.domain.contention.batch_placement import Array, Places, fewest_cards
from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.measured_curve import ascending
from wallwatch.domain.contention.placement import Feasibility, Kind, place, violations
from wallwatch.domain.contention.round_robin import EngineUser
from wallwatch.domain.contention.sharing import Batch, Resident, drops_of

KINDS, ARRIVALS = 36, 500
POINTS = (0.0, 0.5, 1.0, 2.0, 3.5, 6.0, 8.0)
LOADS = np.linspace(0, 7.5, 61)
RISK = float(os.environ.get("WALLWATCH_RISK", "0.01"))
FIRST = int(os.environ.get("WALLWATCH_FIRST_SEQUENCE", "0"))


def curve(random: np.random.Generator) -> Callable[[float], float]:
    """Drop against load: saturating, with a knee, or S-shaped."""
    most, scale, shape = float(random.uniform(0.025, 0.25)), float(random.uniform(0.5, 4.0)), int(random.integers(3))
    if shape == 0:
        return lambda load: most * (1 - np.exp(-load / scale))
    if shape == 1:
        return lambda load: most * min(load / scale, 1.0)
    return lambda load: most * load**2 / (load**2 + scale**2)


def functions(random: np.random.Generator, noise: float) -> tuple[list[Resident], list[Resident]]:
    """Functions as they are, and as they were measured."""
    true, measured = [], []
    for at in range(KINDS):
        solo, drop = float(random.uniform(300, 1500)), curve(random)
        engines = {}
        if random.random() < 0.4:
            engines["regex"] = EngineUser(int(random.integers(1, 3)), float(random.uniform(0.05, 0.3)) / solo, solo)
        pattern = Pattern.PIPELINE if random.random() < 0.5 else Pattern.RUN_TO_COMPLETION
        kind = Kind(f"f{at}", 2, float(random.choice([0.05, 0.1, 0.15, 0.2])))
        fine = tuple((float(load), float(drop(load))) for load in np.linspace(0, 12, 481))
        resident = Resident(kind, solo, pattern, float(random.uniform(0.1, 2.5)), fine, engines)
        true.append(resident)
        if noise == 0:
            measured.append(resident)
            continue
        alone = 1 + random.normal(0, noise)
        seen = [0.0] + [float(1 - (1 - drop(load)) * (1 + random.normal(0, noise)) / alone) for load in POINTS[1:]]
        points = tuple(zip(POINTS, ascending(seen), strict=True))
        # The error of the curve as it will be used, noise and straight lines between the points: what a cross-validation shows.
        lines = np.interp(LOADS, POINTS, [point for _, point in points])
        error = float(np.sqrt(np.mean((lines - [drop(load) for load in LOADS]) ** 2)))
        measured.append(replace(resident, kind=replace(kind, error=error), memory_curve=points))
    return true, measured


def predictions(residents: Sequence[Resident]) -> Feasibility:
    """What placement asks."""
    of = {resident.kind: resident for resident in residents}

    def many(kinds: Sequence[Kind], combinations: Places) -> Array:
        return Batch([of[kind] for kind in kinds]).drops(combinations)

    return Feasibility(lambda kinds: drops_of([of[kind] for kind in kinds]), 8, many=many)


def run(noise: float, sequences: int) -> dict[str, float]:
    """Totals over the sequences."""
    cards = bound = broken = online = worst = 0
    seconds = []
    for seed in range(FIRST, FIRST + sequences):
        random = np.random.default_rng(seed)
        true, measured = functions(random, noise)
        wanted = random.integers(0, KINDS, ARRIVALS)
        truth = predictions(true)
        best = fewest_cards([true[at].kind for at in wanted], truth)[1] or 0
        begin = time.process_time()
        placed, _ = fewest_cards([measured[at].kind for at in wanted], predictions(measured), 20.0, RISK)
        seconds.append(time.process_time() - begin)
        as_they_are = dict(zip([one.kind for one in measured], [one.kind for one in true], strict=True))
        lost = sum(violations([as_they_are[kind] for kind in card], truth.drops) for card in placed.cards)
        cards, bound, broken, worst = cards + len(placed.cards), bound + best, broken + lost, max(worst, lost)
        online += len(place([measured[at].kind for at in wanted], predictions(measured)).cards)
    return {
        "waste_percent": round(100 * (cards / bound - 1), 2),
        "violations_percent": round(100 * broken / (sequences * ARRIVALS), 2),
        "violations_worst_sequence_percent": round(100 * worst / ARRIVALS, 2),
        "waste_one_by_one_percent": round(100 * (online / bound - 1), 2),
        "cpu_s_per_batch": round(float(np.median(seconds)), 2),
    }


def main() -> None:
    sequences = int(os.environ.get("WALLWATCH_SEQUENCES", "100"))
    for name, noise in (("exact", 0.0), ("noisy_0.2_percent", 0.002), ("noisy_1_percent", 0.01)):
        report(f"placement {name}", sequences=sequences, **run(noise, sequences))


if __name__ == "__main__":
    main()
