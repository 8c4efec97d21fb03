"""Events of a host: what is kept of them, and what a window without any says."""

from wallwatch.domain.evidence import Feature
from wallwatch.domain.symptoms import events
from wallwatch_testing.stories import PCI, START_MS

HOUR_US = 3_600_000_000
NOW_US = START_MS * 1000


def took(*at_us: int) -> events.Events:
    kept: events.Events = {}
    for at in at_us:
        events.take(kept, "host_booted", at, PCI, {})
    return kept


def test_an_event_is_kept_for_an_hour_behind_the_newest_one() -> None:
    assert [entry[0] for entry in took(NOW_US - HOUR_US, NOW_US)["boots"]] == [NOW_US - HOUR_US, NOW_US]
    assert [entry[0] for entry in took(NOW_US - HOUR_US - 1, NOW_US)["boots"]] == [NOW_US]


def test_sixty_four_events_of_a_signal_are_kept() -> None:
    times = [NOW_US + number for number in range(65)]
    assert [entry[0] for entry in took(*times[:64])["boots"]] == times[:64]
    assert [entry[0] for entry in took(*times)["boots"]] == times[1:]


def test_no_event_is_none_in_the_whole_window() -> None:
    nothing = Feature(0.0, START_MS - 60_000, START_MS)
    assert events.feature({}, "boots", START_MS, 60, None) == nothing
    assert events.feature(took(NOW_US - 60_000_000), "boots", START_MS, 60, None) == nothing
    other_rnic: events.Events = {"vf_unbinds": [[NOW_US, "0000:af:00.0", 1]]}
    assert events.feature(other_rnic, "vf_unbinds", START_MS, 60, PCI) == nothing


def test_an_event_may_be_a_second_ahead_of_the_samples_and_no_more() -> None:
    assert events.feature(took(NOW_US + 1_000_000), "boots", START_MS, 60, None).value == 1.0
    assert events.feature(took(NOW_US + 1_000_001), "boots", START_MS, 60, None).value == 0.0


def test_events_are_evidence_from_the_first_to_the_last_of_them() -> None:
    found = events.feature(took(NOW_US - 9_000_000, NOW_US - 4_000_000), "boots", START_MS, 60, None)
    assert found == Feature(2.0, START_MS - 9000, START_MS - 4000)


def test_the_rnic_that_most_events_name_is_theirs_and_of_several_the_last_address() -> None:
    kept: events.Events = {"command_timeouts": [[NOW_US, "b", 1], [NOW_US, "a", 1]], "driver_lockups": [[NOW_US, "a", 1], [NOW_US, "", 1]]}
    assert events.device(kept, ("command_timeouts", "driver_lockups"), START_MS, 60) == "a"
    assert events.device(kept, ("command_timeouts",), START_MS, 60) == "b"
    assert events.device(kept, ("command_timeouts",), START_MS + 60_000, 60) == ""
    assert events.device(kept, ("command_timeouts",), START_MS + 59_999, 60) == "b"
    assert events.device({}, ("command_timeouts",), START_MS, 60) == ""
