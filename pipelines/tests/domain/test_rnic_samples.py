"""What the stage takes from single samples: states of a port, samples that come early in an RNIC's life, the newest time of its host."""

from typing import Any

import pytest

from wallwatch.domain.symptoms import host, rnic_stage, signals
from wallwatch.domain.symptoms.rnic_stage import REMEMBERED
from wallwatch_testing.stories import START_MS, detect, event, healthy, of, second_of


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
    assert signals.of_rnic(fields, rnic_stage.new(), START_MS).get("port_down") == down


def test_samples_that_overtake_the_first_ones_of_an_rnic_count_until_it_has_a_past() -> None:
    rnic, owner = rnic_stage.new(), host.new()
    newest = START_MS + 60_000
    for number in range(REMEMBERED):  # each older than all before it
        assert rnic_stage.admit(rnic, owner, "rnic", newest - number * 1000), number
        rnic["newest"] = newest
        rnic.pop("behind", None)  # as if another source had shown that the clock runs on
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
