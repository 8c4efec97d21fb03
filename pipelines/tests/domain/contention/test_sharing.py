"""Drops of many combinations at once against those of one card after the other."""

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
