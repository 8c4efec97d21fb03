"""Drops of many combinations at once against those of one card after the other."""

from dataclasses import replace

import numpy as np

from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.placement import Kind
from wallwatch.domain.contention.round_robin import EngineUser
from wallwatch.domain.contention.sharing import Batch, Resident, drops_of


def residents(count: int, seed: int) -> list[Resident]:
    random = np.random.default_rng(seed)
    found = []
    for at in range(count):
        solo = float(random.uniform(300, 1500))
        engines = {
            name: EngineUser(int(random.integers(1, 4)), float(random.uniform(0.1, 1.0)) / solo, solo * float(random.uniform(0.3, 2)))
            for name in ("regex", "crypto")
            if random.random() < 0.5
        }
        curve = tuple(zip([0.0, 1.0, 3.0], sorted(random.uniform(0, 0.5, 3).tolist()), strict=True)) if random.random() < 0.8 else ()
        pattern = list(Pattern)[int(random.integers(2))]
        found.append(Resident(Kind(f"k{at}", 2, 0.1), solo, pattern, float(random.uniform(0, 2)), curve, engines))
    return found


def test_many_combinations_have_the_drops_of_each() -> None:
    kinds = residents(24, 1)
    batch, random = Batch(kinds), np.random.default_rng(2)
    for size in (1, 2, 3, 4, 6):
        combinations = random.integers(0, len(kinds), (150, size))
        expected = [drops_of([kinds[at] for at in combination]) for combination in combinations]
        assert np.allclose(batch.drops(combinations), expected, rtol=0, atol=1e-12)


def test_chances_are_those_of_drawn_curves() -> None:
    """Also where an accelerator takes its part of the SLA: the drop of memory is drawn, and everything is composed again."""
    random = np.random.default_rng(5)
    for seed, pattern in enumerate(Pattern):
        error = 0.02
        kinds = [
            replace(one, pattern=pattern, memory_curve=((0.0, 0.0), (6.0, 0.15)), memory_errors=(error, error))
            for one in residents(3, seed + 10)
        ]
        kinds = [replace(one, engines={name: replace(use, rate=use.rate / 4) for name, use in one.engines.items()}) for one in kinds]
        chances = Batch(kinds).chances(np.array([[0, 1, 2]]))[0]
        broken = np.zeros(3)
        for _ in range(4000):
            off = float(random.normal(0, error))
            drawn = [replace(one, memory_curve=tuple((load, max(drop + off, 0.0)) for load, drop in one.memory_curve)) for one in kinds]
            broken += [drop > one.kind.most_drop for drop, one in zip(drops_of(drawn), kinds, strict=True)]
        assert np.allclose(chances, broken / 4000, atol=0.04), pattern


def test_without_errors_a_chance_is_none_or_certain() -> None:
    kinds = residents(6, 3)
    combinations = np.array([[0, 1], [2, 3], [4, 5]])
    batch = Batch(kinds)
    assert (batch.chances(combinations) == (batch.drops(combinations) > 0.1)).all()
