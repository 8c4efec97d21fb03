"""What looks like a breakage and is none: nothing may be reported."""

import random

import pytest
from pipelines.tests.domain.isolation.world import Vf, World, run

from wallwatch.domain.isolation.verdicts import State

SECONDS = 300


def vfs(seed: int) -> dict[str, Vf]:
    rng = random.Random(seed)
    return {f"vf{n}": Vf(8e9, rng.uniform(0.3e9, 2e9), rng.choice([300, 600, 1400]), rng.uniform(0.3e9, 3e9)) for n in range(8)}


@pytest.mark.parametrize("seed", range(4))
def test_blips_of_single_vfs_are_notes(seed: int) -> None:
    world = World(vfs(seed), blips=(0.01, 0.03, 0.06, 0.1)[seed], seed=seed)
    verdicts = run(world, world.readings(SECONDS))
    assert not [verdict.t for verdict in verdicts if verdict.broken]
    assert any("alone is above its promised delay" in note for verdict in verdicts for note in verdict.notes)


@pytest.mark.parametrize("seed", range(4))
def test_few_drops_at_the_port_are_notes_even_with_blips(seed: int) -> None:
    world = World(vfs(seed), blips=0.05, seed=seed)
    packets = sum(vf.rx_bps / 8 / vf.size for vf in world.vfs.values())
    world.port_noise_drops = 0.0008 * packets
    assert not [verdict.t for verdict in run(world, world.readings(SECONDS)) if verdict.broken]


@pytest.mark.parametrize("blips", [0.0, 0.05])
def test_a_vf_at_its_own_limiter_drops_what_was_agreed(blips: float) -> None:
    limited = vfs(1) | {"vf3": Vf(8e9, 3e9, 700, 1e9, policed_bps=1e9)}
    world = World(limited, blips=blips)
    readings = world.readings(SECONDS)
    verdicts = run(world, readings)
    assert (readings[-1].vfs["vf3"].rx_dropped or 0) - (readings[0].vfs["vf3"].rx_dropped or 0) > 10**7
    assert not [verdict.t for verdict in verdicts if verdict.broken]
    assert verdicts[-1].vfs["vf3"].dropped_per_s == 0


def test_a_limiter_whose_drops_the_port_counts_too_is_still_a_limiter() -> None:
    world = World(vfs(1) | {"vf3": Vf(8e9, 3e9, 700, 1e9, policed_bps=1e9)})
    readings = world.readings(SECONDS)
    for reading in readings:
        assert reading.port is not None
        reading.port.rx_dropped = reading.vfs["vf3"].rx_dropped
    assert not [verdict.t for verdict in run(world, readings) if verdict.broken]


def test_a_guest_that_does_not_read_its_queue_loses_its_own_packets() -> None:
    world = World(vfs(2))
    readings = world.readings(60)
    for second, reading in enumerate(readings):
        reading.vfs["vf5"].rx_dropped = (reading.vfs["vf5"].rx_dropped or 0) + 50_000 * max(0, second - 30)
    assert not [verdict.t for verdict in run(world, readings) if verdict.broken]


def test_no_traffic_is_unknown_and_never_kept() -> None:
    world = World(vfs(3) | {"vf7": Vf(8e9, 0.0, 700)})
    assert {verdict.vfs["vf7"].state for verdict in run(world, world.readings(20))} == {State.UNKNOWN}


def test_a_promised_delay_without_probes_says_that_it_was_not_measured() -> None:
    world = World(vfs(3), delay="none")
    assert run(world, world.readings(5))[-1].vfs["vf0"].reason == "delay not measured"
