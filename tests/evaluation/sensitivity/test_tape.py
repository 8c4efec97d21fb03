"""A recording judged again with a moved threshold: as if everything had been run in full."""

from collections.abc import Iterable, Iterator

import orjson
import pytest
from tests.evaluation.scoring.replay import replay
from tests.evaluation.sensitivity.tape import Comparisons, Tape, verdicts
from tests.evaluation.sensitivity.thresholds import FACTORS, thresholds

from wallwatch.domain.catalogue.models import Bound
from wallwatch.domain.symptoms.host_stage import Message
from wallwatch_testing.stories import datapath, healthy, offload, port

EVERY = {one.name: one for one in thresholds()}
SOFTWARE = "software_packets_per_s raises S5 (mean of 15 s)"


def lines(messages: Iterable[Message], host: str = "host01") -> Iterator[bytes]:
    for one in messages:
        tags = {**one.tags, "host": host}
        yield orjson.dumps({"name": one.measurement, "tags": tags, "fields": one.fields, "timestamp": one.at_ns})


def forwarding(packets_per_s: float) -> Iterator[Message]:
    """A minute and a half of health, then as long with packets in software, then health again."""
    for second in range(0, 300, 10):
        sick = {"software_packets_per_s": packets_per_s, "packets_per_s": 1e4} if 90 <= second < 180 else {}
        yield from (port(second), offload(second, sick), datapath(second))


def two_hosts(packets_per_s: float) -> list[bytes]:
    return [*lines(forwarding(packets_per_s)), *lines(healthy(range(0, 300, 10)), "host02")]


def found(tape_or_replay: Tape) -> list[str]:
    return [one.symptom for one in tape_or_replay.unmoved.episodes]


def test_a_recording_is_judged_as_the_evaluation_does() -> None:
    recording = two_hosts(1000.0)
    assert Tape(recording).unmoved == replay(recording)
    assert found(Tape(recording)) == ["S5"]


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("packets_per_s", [170.0, 230.0, 1000.0])
def test_with_any_threshold_moved_the_shortcut_finds_what_a_full_run_finds(packets_per_s: float, factor: float) -> None:
    recording = two_hosts(packets_per_s)
    tape = Tape(recording)
    for threshold in EVERY.values():
        value = threshold.moved(factor)
        with threshold.at(value):
            full = replay(recording)
            short = tape.silence_again() if threshold.kind == "silence" else tape.again(tape.touched(threshold, value))
        assert verdicts(short) == verdicts(full), threshold.name


def test_only_hosts_with_a_value_between_the_bounds_are_judged_again() -> None:
    tape = Tape(two_hosts(230.0))
    threshold = EVERY[SOFTWARE]
    assert tape.touched(threshold, 240.0) == ["host01"]
    assert tape.touched(threshold, 210.0) == []


def test_a_moved_bound_changes_what_is_found() -> None:
    tape = Tape(two_hosts(230.0))
    threshold = EVERY[SOFTWARE]
    assert found(tape) == ["S5"]
    with threshold.at(240.0):
        assert tape.again(["host01"]).episodes == []


def test_durations_matter_only_to_hosts_with_the_symptom() -> None:
    duration = EVERY["S5 is gone for this long before it is cleared"]
    assert Tape(two_hosts(1000.0)).touched(duration, 54.0) == ["host01"]
    assert Tape(two_hosts(0.0)).touched(duration, 54.0) == []


@pytest.mark.parametrize(
    ("constant", "sick"),
    [
        ("FULL of signals", {"q_egress": 40.0}),
        ("SMALL_TABLE of rnic_stage", {"flow_deletions_per_s": 4.1}),
        ("SLACK of detect", {"software_packets_per_s": 1000.0, "packets_per_s": 1e4}),
    ],
)
def test_a_constant_matters_to_hosts_that_show_what_it_is_about(constant: str, sick: dict[str, float]) -> None:
    calm = {"flow_deletions_per_s": 1.0, "flow_insertions_per_s": 1.0}

    def host(fields: dict[str, float]) -> Iterator[Message]:
        for second in range(0, 60, 10):
            yield from (port(second), offload(second, {**calm, **fields}), datapath(second))

    tape = Tape([*lines(host(sick)), *lines(host({}), "host02")])
    assert tape.touched(EVERY[constant], EVERY[constant].moved(0.8)) == ["host01"]


def test_constants_about_pauses_matter_to_hosts_that_paused() -> None:
    paused = [one for one in healthy(range(0, 300, 10)) if not 100 <= (one.at_ns // 10**9) % 1000 < 121]
    tape = Tape([*lines(paused), *lines(healthy(range(0, 300, 10)), "host02")])
    assert tape.touched(EVERY["LONG_PAUSE_S of host"], 20.0) == ["host01"]


@pytest.mark.parametrize(
    ("bound", "met", "failed", "moved", "differs"),
    [
        (Bound(at_most=0.5), 0.45, 0.9, Bound(at_most=0.4), True),
        (Bound(at_most=0.5), 0.35, 0.9, Bound(at_most=0.4), False),
        (Bound(at_most=0.5), 0.45, 0.55, Bound(at_most=0.6), True),
        (Bound(below=10.0), 2.0, 11.0, Bound(below=12.0), True),
        (Bound(below=10.0), 2.0, 12.0, Bound(below=12.0), False),
        (Bound(above=0.85), 0.9, 0.8, Bound(above=0.88), False),
        (Bound(above=0.85), 0.9, 0.8, Bound(above=0.68), True),
    ],
)
def test_a_bound_makes_a_difference_where_a_value_lies_in_between(
    bound: Bound, met: float, failed: float, moved: Bound, differs: bool
) -> None:
    seen = Comparisons()
    for value in (met, failed):
        seen.note(bound, value, bound.holds(value))
    assert seen.differs(bound, moved) is differs


def test_of_many_values_the_nearest_on_each_side_counts() -> None:
    bound, seen = Bound(at_least=10.0), Comparisons()
    for value in (30.0, 11.0, 40.0, 1.0, 7.0, 3.0):
        seen.note(bound, value, bound.holds(value))
    assert [seen.differs(bound, Bound(at_least=limit)) for limit in (11.5, 10.5, 7.5, 6.5)] == [True, False, False, True]
