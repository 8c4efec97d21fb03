"""PCIe and CPU: the counters that only the live measurement has."""

from pipelines.tests.domain.isolation.world import Incident, Vf, World

from wallwatch.domain.isolation.detector import Detector
from wallwatch.domain.isolation.readings import Extras, Reading
from wallwatch.domain.isolation.verdicts import Mechanism, Verdict

VFS = {f"vf{n}": Vf(5e9, 1e9, 700, 1e9) for n in range(6)}


def broken(world: World, readings: list[Reading]) -> list[Verdict]:
    detector = Detector(world.slos(), world.nic_bps)
    return [verdict for verdict in map(detector.step, readings) if verdict is not None and verdict.broken]


def with_stalls(readings: list[Reading], usual: int, first: int, last: int, more: int) -> None:
    stalled = 0
    for second, reading in enumerate(readings):
        stalled += usual + (more if first <= second <= last else 0)
        reading.extras = Extras(pcie_stalled_writes=stalled)


def test_drops_with_rising_stalls_are_of_pcie() -> None:
    world = World(VFS, incidents=[Incident(20, 24, "burst", {"vf3": 50e9})])
    readings = world.readings(40)
    with_stalls(readings, 100, 20, 24, 50_000)
    verdicts = broken(world, readings)
    assert [verdict.mechanism for verdict in verdicts] == [Mechanism.PCIE] * 5
    assert {verdict.aggressors for verdict in verdicts} == {("vf3",)}


def test_stalls_that_a_card_always_counts_explain_nothing() -> None:
    world = World(VFS, incidents=[Incident(60, 62, "burst", {"vf3": 50e9})])
    readings = world.readings(80)
    with_stalls(readings, 40_000, 0, 0, 0)
    assert [verdict.mechanism for verdict in broken(world, readings)] == [Mechanism.BANDWIDTH] * 3


def test_stalls_without_a_victim_are_no_breakage() -> None:
    world = World(VFS)
    readings = world.readings(40)
    with_stalls(readings, 0, 20, 30, 10**6)
    assert broken(world, readings) == []


def test_packets_that_the_cpu_drops_are_a_breakage_by_the_vf_with_most_packets_for_its_weight() -> None:
    world = World(VFS | {"vf0": Vf(20e9, 4e9, 1400)}, delay="jump", incidents=[Incident(20, 24, "burst", {"vf3": 1e9})])
    readings = world.readings(40)
    processed = dropped = 0
    for second, reading in enumerate(readings):
        if 20 <= second <= 24:
            dropped += 200_000
            for vf in reading.vfs.values():
                vf.delay_p99_us = 700.0
        if second >= 20:
            storm = 3_000_000 * (min(second, 24) - 19)
            vf3 = reading.vfs["vf3"]
            vf3.rx_packets, vf3.rx_bytes = (vf3.rx_packets or 0) + storm, (vf3.rx_bytes or 0) + 64 * storm
        processed += 4_000_000
        reading.extras = Extras(softnet_processed=processed, softnet_dropped=dropped, softnet_squeezed=0)
    verdicts = broken(world, readings)
    assert [(verdict.mechanism, verdict.aggressors) for verdict in verdicts] == [(Mechanism.CPU, ("vf3",))] * 5


def test_softirqs_out_of_budget_with_slow_vfs_are_of_the_cpu() -> None:
    world = World(VFS, incidents=[Incident(20, 24, "storm", {"vf3": 1e6})])
    readings = world.readings(40)
    squeezed = 0
    for second, reading in enumerate(readings):
        if 20 <= second <= 24:
            squeezed += 2_000
            for vf in reading.vfs.values():
                vf.delay_p99_us = 700.0
        reading.extras = Extras(softnet_processed=10**7 * second, softnet_dropped=0, softnet_squeezed=squeezed)
    assert [(verdict.mechanism, verdict.aggressors) for verdict in broken(world, readings)] == [(Mechanism.CPU, ("vf3",))] * 5
