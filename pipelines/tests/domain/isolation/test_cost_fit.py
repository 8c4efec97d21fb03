"""The refit of costs."""

import random

import pytest

from wallwatch.domain.isolation.cost_fit import fit_costs, plausible_ratios
from wallwatch.domain.isolation.engine_load import EngineLoad


def full_second(ratio: float, size: float, level: float = 1.0) -> tuple[float, float]:
    """Packets/s and bytes/s of packets of one size that fill an engine of 1e9 byte-equivalents/s."""
    packets = level * 1e9 / (ratio + size)
    return packets, packets * size


@pytest.mark.parametrize("ratio", [60.0, 160.0, 1000.0])
def test_seconds_of_different_sizes_give_the_costs(ratio: float) -> None:
    rng = random.Random(7)
    seconds = [full_second(ratio, size, rng.uniform(0.98, 1.02)) for size in (64, 90, 300, 800, 1500) for _ in range(4)]
    packet, byte = fit_costs(seconds, [], 200.0, 12.5)
    assert packet / byte == pytest.approx(ratio, rel=0.15)
    assert byte == pytest.approx(1e-9, rel=0.1)
    low, high = plausible_ratios(seconds, [], 200.0, 0.04)
    assert low <= 1.1 * ratio
    assert high >= 0.9 * ratio


def test_one_second_fixes_the_capacity_and_leaves_the_ratio_open() -> None:
    packet, byte = fit_costs([full_second(160.0, 64.0)], [], 200.0, 12.5)
    assert packet * full_second(160.0, 64.0)[0] + byte * full_second(160.0, 64.0)[1] == pytest.approx(1.0)
    low, high = plausible_ratios([full_second(160.0, 64.0)], [], 200.0, 0.04)
    assert high / low > 10


def test_a_calm_second_bounds_the_cost_of_bytes() -> None:
    """More bytes than in the full second, without a drop: then it was the packets that filled it."""
    storm = full_second(3000.0, 64.0)
    calm = (storm[0] / 20, storm[1] * 8)
    without, _ = plausible_ratios([storm], [], 200.0, 0.04)
    with_calm, _ = plausible_ratios([storm], [calm], 200.0, 0.04)
    assert with_calm > 5 * without
    packet, byte = fit_costs([storm], [calm], 200.0, 12.5)
    assert packet * calm[0] + byte * calm[1] <= 1.001


def test_costs_are_never_negative() -> None:
    packet, byte = fit_costs([(1e6, 1e9), (1.1e6, 1.2e9)], [(2e6, 5e8)], 200.0, 12.5)
    assert packet >= 0
    assert byte >= 0


def test_seconds_that_were_partly_full_do_not_lower_the_capacity() -> None:
    rng = random.Random(3)
    seconds = [full_second(200.0, 64.0, rng.uniform(0.98, 1.02) if n % 2 else rng.uniform(0.3, 0.8)) for n in range(20)]
    packet, byte = fit_costs(seconds, [], 200.0, 12.5)
    whole = full_second(200.0, 64.0)
    assert packet * whole[0] + byte * whole[1] == pytest.approx(1.0, abs=0.06)


def test_nothing_full_teaches_nothing() -> None:
    assert fit_costs([], [(1.0, 1.0)], 200.0, 12.5) is None


def test_the_history_is_bounded_and_the_refit_gives_the_same_every_time() -> None:
    engines = [EngineLoad(40e9), EngineLoad(40e9)]
    for engine in engines:
        rng = random.Random(5)
        for _ in range(500):
            engine.full(*full_second(150.0, rng.choice([64.0, 1000.0]), rng.uniform(0.97, 1.03)))
            engine.calm(*full_second(150.0, rng.uniform(64, 1500), rng.uniform(0.1, 0.9)))
    assert engines[0].costs == engines[1].costs
    assert engines[0].costs.packet_bytes == pytest.approx(150.0, rel=0.15)
