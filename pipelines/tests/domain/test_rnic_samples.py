"""What the stage takes from single samples: states of a port, samples that come early in an RNIC's life, the newest time of its host."""

from typing import Any

import pytest

from wallwatch.domain.symptoms import baseline, host, rnic_stage, signals
from wallwatch.domain.symptoms.rnic_stage import REMEMBERED
from wallwatch.domain.symptoms.rnic_state import RnicState
from wallwatch_testing.stories import PCI, START_MS, detect, event, healthy, of, second_of


@pytest.mark.parametrize(
    ("fields", "down"),
    [
        ({"port_state": "ACTIVE"}, 0.0),
        ({"port_state": "DOWN"}, 1.0),
        ({"port_state": "INIT"}, 1.0),
        ({"port_state": "ACTIVE", "operstate": "down"}, 0.0),  # the port's own state comes first
        ({"port_state": "DOWN", "operstate": "up"}, 1.0),
        ({"operstate": "up"}, 0.0),
        ({"operstate": "UP"}, 0.0),
        ({"operstate": "unknown"}, 0.0),  # drivers without carrier detection
        ({"operstate": "down"}, 1.0),
        ({"operstate": "lowerlayerdown"}, 1.0),
        ({"port_state": 4}, None),
        ({}, None),
    ],
)
def test_a_port_is_down_unless_it_is_active_up_or_of_unknown_state(fields: dict[str, Any], down: float | None) -> None:
    assert signals.of_rnic(fields, RnicState(), START_MS).get("port_down") == down


def test_samples_that_overtake_the_first_ones_of_an_rnic_count_until_it_has_a_past() -> None:
    rnic, owner = RnicState(), host.new()
    newest = START_MS + 60_000
    for number in range(REMEMBERED):  # each older than all before it
        assert rnic_stage.admit(rnic, owner, "rnic", newest - number * 1000), number
        rnic.newest = newest
        rnic.behind = None  # as if another source had shown that the clock runs on
    assert owner["late"] == 0
    assert not rnic_stage.admit(rnic, owner, "rnic", newest - REMEMBERED * 1000)
    assert owner["late"] == 1


def test_an_event_that_comes_late_is_judged_at_the_newest_time_of_its_host() -> None:
    story = [*healthy(range(0, 101, 10)), event(70, "soft_lockup", driver="mlx5_core", function="cmd_exec")]
    found = of(detect(story), "S2")
    assert (second_of(found[0], "started_at"), second_of(found[0])) == (70, 100)
    # Half a minute later the same event is older than the window.
    late = [*healthy(range(0, 131, 10)), event(70, "soft_lockup", driver="mlx5_core", function="cmd_exec")]
    assert of(detect(late), "S2") == []


OTHER = "0000:af:00.0"


def host_with_long_sweeps() -> host.Host:
    """Sweeps of 300 ms over 3,000 flows that usually take 12 us each: 264 ms of every half second are for deletions."""
    owner = host.new()
    baseline.least(owner.setdefault("least", {}), "dump_ms_per_flow", 0.012, START_MS)
    host.take_datapath(owner, "system@ovs-system", START_MS, {"dump_duration_ms": 300.0, "flows": 3000})
    return owner


def test_the_time_of_deletions_is_shared_by_deletions_times_flows() -> None:
    owner = host_with_long_sweeps()
    host.note_deletions(owner, PCI, START_MS, 100.0, 3000)
    assert host.deletion_load(owner, PCI, START_MS) == pytest.approx(0.528)
    host.note_deletions(owner, OTHER, START_MS, 300.0, 1000)
    assert host.deletion_load(owner, PCI, START_MS) == host.deletion_load(owner, OTHER, START_MS) == pytest.approx(0.264)
    host.note_deletions(owner, OTHER, START_MS, 300.0, 3000)
    assert host.deletion_load(owner, OTHER, START_MS) == pytest.approx(0.528 * 3 / 4)
    assert host.deletion_load(owner, "0000:d8:00.0", START_MS) == 0.0
    # What was seen more than a minute ago says nothing.
    assert host.deletion_load(owner, PCI, START_MS + 60_000) == pytest.approx(0.528 / 4)
    assert host.deletion_load(owner, PCI, START_MS + 60_001) is None


@pytest.mark.parametrize(("flows", "usual_ms"), [(3499, 5.28), (3500, None)])
def test_what_a_deletion_usually_takes_is_learnt_while_the_table_is_less_than_half_full(flows: int, usual_ms: float | None) -> None:
    rnic = RnicState()
    rnic.model = "CX-6"  # 7,000 flows
    rnic_stage.take_offload(rnic, host_with_long_sweeps(), PCI, START_MS, {"flow_deletions_per_s": 100.0, "flows_offloaded": flows})
    assert baseline.least_of(rnic.least, "deletion_ms") == pytest.approx(usual_ms)


@pytest.mark.parametrize(
    ("before_s", "at_s", "moves"),
    [
        ([], 55, True),  # another input of the host is ahead, and this one has only begun
        ([50], 55, True),
        ([50, 52], 51, False),  # it has been passed by one of its own
        ([50, 65], 60, False),
        ([50, 65], 65.5, True),
    ],
)
def test_rates_go_forward_with_the_newest_sample_of_their_own_input(before_s: list[int], at_s: float, moves: bool) -> None:
    """The other input, `rnic_offload`, has a sample at 60 s."""
    rnic, owner = RnicState(), host.new()
    assert rnic_stage.admit(rnic, owner, "rnic_offload", START_MS + 60_000)
    for second in [*before_s, at_s]:
        at_ms = START_MS + int(second * 1000)
        assert rnic_stage.admit(rnic, owner, "rnic", at_ms)
        rnic_stage.take_rnic(rnic, at_ms, {}, {"rx_bytes": int(second * 1000)})
    assert (rnic.counted_at == START_MS + int(at_s * 1000)) is moves
