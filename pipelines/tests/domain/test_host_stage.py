"""The stage at its bounds: how many RNICs and events of a host it follows, pauses, RNICs that are gone, what waits for time to pass."""

from typing import Any

import pytest

from wallwatch.domain.symptoms import events
from wallwatch.domain.symptoms.host_stage import EVENTS_PER_MINUTE, GONE_CHECK_MS, GONE_MS, HOST, MOST_RNICS, Message, step
from wallwatch_testing.stories import PCI, START_MS, at_ns, datapath, detect, event, healthy, of, offload, port, second_of

OTHER = "0000:af:00.0"


def after(*messages: Message, state: Any = None) -> Any:
    for message in messages:
        state, _ = step(state, message)
    return state


def test_a_message_of_another_measurement_changes_nothing() -> None:
    assert step(None, Message("forecast", {"host": "host01"}, at_ns(0), {})) == ({}, [])


def test_sixty_four_rnics_of_a_host_are_followed_and_samples_of_others_are_counted_as_a_flood() -> None:
    names = [f"0000:{number:02x}:00.0" for number in range(MOST_RNICS + 1)]
    state = after(*(offload(0, pci=name) for name in names))
    assert [name in state for name in names] == [True] * MOST_RNICS + [False]
    assert state[HOST]["flooded"] == 1
    state = after(offload(1, pci=names[-1]), port(1, pci=names[-1]), offload(1, pci=names[-2]), state=state)
    assert (state[HOST]["flooded"], names[-1] in state) == (3, False)
    assert state[names[-2]].newest == START_MS + 1000


def test_six_hundred_events_of_a_minute_are_taken_and_the_next_minute_begins_anew() -> None:
    whole_minute = 40  # START_MS is 20 s into a minute
    state = after(*(event(whole_minute + number / 100, "hung_task", driver="x") for number in range(EVENTS_PER_MINUTE)))
    assert state[HOST]["flooded"] == 0
    state = after(event(whole_minute + 59.999, "hung_task", driver="x"), state=state)
    assert state[HOST]["flooded"] == 1
    state = after(event(whole_minute + 60, "hung_task", driver="x"), state=state)
    assert state[HOST]["flooded"] == 1
    assert state[HOST]["event_rate"][1] == 1


def test_an_event_of_an_unknown_kind_leaves_no_trace() -> None:
    assert after(event(0, "something_else")) == {}


def stalls(state: Any) -> int:
    return len(state[HOST]["events"].get("stalls", []))


@pytest.mark.parametrize(
    ("boot_s", "counted"),
    [(None, 1), (150, 0), (121, 0), (79, 1)],  # the window of the boot is the pause and ten seconds
)
def test_a_pause_of_a_host_s_samples_is_a_stall_unless_it_booted(boot_s: int | None, counted: int) -> None:
    story = [*healthy(range(0, 101, 10))]
    if boot_s is not None:
        story.append(event(boot_s, "host_booted", pci=""))
    state = after(*story, datapath(160))
    assert stalls(state) == counted


def test_a_boot_that_is_reported_after_the_pause_takes_the_stall_back() -> None:
    state = after(*healthy(range(0, 101, 10)), datapath(160))
    assert stalls(state) == 1
    assert "stalls" not in after(event(150, "host_booted", pci=""), state=state)[HOST]["events"]


def test_each_input_has_a_rhythm_of_its_own() -> None:
    """Samples of the datapath every ten seconds, of the RNIC every minute."""
    story: list[Message] = []
    for second in range(0, 601, 10):
        story += [datapath(second), *([port(second)] if second % 60 == 0 else [])]
    state = after(*story)
    assert stalls(state) == 0
    assert set(state[HOST]["beat"]) == {"rnic", "ovs_datapath"}
    assert [round(state[HOST]["beat"][name][1]) for name in ("rnic", "ovs_datapath")] == [60, 10]


def lost_link(second: float, pci: str = PCI) -> Message:
    return event(second, "pcie_link_down", pci=pci)


def with_a_lost_link(until_s: int) -> Any:
    """An RNIC with an active finding, which is then heard of no more; another one of its host goes on."""
    story: list[Message] = []
    for second in range(0, 121, 10):
        story += [port(second), offload(second), port(second, pci=OTHER), offload(second, pci=OTHER), datapath(second)]
        if second == 60:
            story += [event(61, "vf_unbound"), event(61.5, "vf_unbound", vf=1), lost_link(62)]
        if second >= 70:
            story[-5] = port(second, {"pci_link_width": 4, "pci_link_speed_gts": 2.5})
    found = detect(story)
    for second in range(130, until_s, 10):
        story += [port(second, pci=OTHER), offload(second, pci=OTHER), datapath(second)]
    return found, detect(story)[len(found) :], story


def test_a_finding_of_an_rnic_that_is_gone_for_half_an_hour_is_treated_as_cleared() -> None:
    active, later, _ = with_a_lost_link(120 + GONE_MS // 1000 + GONE_CHECK_MS // 1000 + 60)
    raised = of(active, "S7")
    assert raised
    assert raised[-1]["state"] == "active"
    ended = [one for one in of(later, "S7") if one["state"] == "cleared"]
    assert len(ended) == 1
    assert "is treated as cleared: its host has not reported the RNIC since" in ended[0]["summary"]
    assert ended[0]["finding_id"] == raised[0]["finding_id"]
    assert GONE_MS / 1000 <= second_of(ended[0]) - 120 <= (GONE_MS + GONE_CHECK_MS) / 1000
    _, too_early, _ = with_a_lost_link(120 + GONE_MS // 1000 - 10)
    assert [one for one in of(too_early, "S7") if one["state"] == "cleared"] == []


def test_a_gone_rnic_has_no_symptoms_afterwards_and_remembers_when_they_ended() -> None:
    _, _, story = with_a_lost_link(120 + GONE_MS // 1000 + GONE_CHECK_MS // 1000 + 60)
    state = after(*story)
    assert state[PCI].symptoms == {}
    assert "S7" in state[PCI].ended
    assert state[PCI].newest == START_MS + 120_000


def test_an_event_counts_for_the_newest_time_and_within_its_window() -> None:
    state = after(*healthy(range(0, 101, 10)))
    assert events.feature(state[HOST]["events"], "boots", START_MS + 100_000, 60, None).value == 0.0
    state = after(event(95, "host_booted", pci=""), state=state)
    assert events.feature(state[HOST]["events"], "boots", START_MS + 100_000, 60, None).value == 1.0
    assert state[HOST]["newest"] == START_MS + 100_000


@pytest.mark.parametrize(("back_s", "newest_s"), [(60, 100), (60.001, 39.999)])
def test_the_newest_time_of_a_host_goes_back_by_more_than_a_minute_only(back_s: float, newest_s: float) -> None:
    state = after(*(datapath(second) for second in range(0, 101, 10)), port(100 - back_s))
    assert state[HOST]["newest"] == START_MS + round(newest_s * 1000)
