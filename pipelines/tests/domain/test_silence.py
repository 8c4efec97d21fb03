"""Hosts that stopped reporting."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from wallwatch.domain.instants import rfc3339
from wallwatch.domain.symptoms import silence
from wallwatch.domain.symptoms.host_stage import Message

START_S = 1_790_000_000


def message(host: str, second: float, kind: str = "", skew_s: float = 0.0) -> Message:
    tags = {"host": host, "rack": "r1", **({"kind": kind} if kind else {"pci": "0000:17:00.0"})}
    return Message("event" if kind else "rnic", tags, int((START_S + second + skew_s) * 1e9), {})


def play(seconds: int, stops: dict[str, tuple[int, int]], skew_s: dict[str, float] | None = None, extra: tuple[Message, ...] = ()) -> Any:
    """Four hosts at 10 s; `stops`: host -> (from, to) in which nothing comes. Returns the findings and the watch."""
    watch, found = silence.new(), []
    for second in range(0, seconds, 5):
        if second % 10 == 0:
            for name in ("a", "b", "c", "d"):
                begin, end = stops.get(name, (seconds, seconds))
                if not begin <= second < end:
                    silence.take(watch, message(name, second, skew_s=(skew_s or {}).get(name, 0.0)))
        for one in extra:
            if second <= one.at_ns / 1e9 - START_S < second + 5:
                silence.take(watch, one)
        found += silence.check(watch)
        watch = json.loads(json.dumps(watch))
    return found, watch


def test_a_host_that_stops_while_the_fleet_goes_on_is_silent_and_comes_back() -> None:
    found, _ = play(300, {"b": (100, 200)})
    assert {f["host"] for f in found} == {"b"}
    assert (found[0]["symptom"], found[0]["state"], found[0]["severity"], found[0]["pci"]) == ("silent", "active", "critical", "")
    assert found[-1]["state"] == "cleared"
    assert len({f["finding_id"] for f in found}) == 1
    assert found[0]["started_at"] == "2026-09-21T14:14:50.000Z"  # its last sample


def test_a_pause_of_a_standstill_of_the_kernel_is_no_silence() -> None:
    assert play(300, {"b": (100, 150)})[0] == []


def test_a_host_that_announced_its_shutdown_is_a_warning() -> None:
    found, _ = play(300, {"b": (100, 300)}, extra=(message("b", 96, "host_shutdown"),))
    assert {f["severity"] for f in found} == {"warning"}
    assert "It announced a shutdown" in found[0]["explanation"]


def test_while_the_whole_fleet_is_silent_no_host_is() -> None:
    everybody = dict.fromkeys("abcd", (100, 250))
    assert play(400, everybody)[0] == []


def test_a_clock_that_is_minutes_off_makes_no_host_silent() -> None:
    assert play(300, {}, skew_s={"a": 240.0, "b": -240.0})[0] == []
    assert {f["host"] for f in play(300, {"b": (100, 300)}, skew_s={"b": -240.0})[0]} == {"b"}


def test_a_restart_goes_on_with_the_same_finding() -> None:
    found, watch = play(250, {"b": (100, 250)})
    fresh = silence.new()
    for name, host in watch["hosts"].items():
        silence.known(fresh, name, host["rack"], host["at"])
    silence.resume(fresh["hosts"]["b"], watch["hosts"]["b"]["life"]["started"], announced=False)
    for second in range(250, 400, 5):
        for name in ("a", "c", "d"):
            silence.take(fresh, message(name, second))
        found += silence.check(fresh)
    assert len({f["finding_id"] for f in found}) == 1


def test_a_host_whose_samples_another_process_gets_is_not_silent() -> None:
    watch = play(150, {"b": (100, 150)})[1]
    assert "b" not in silence.overdue(watch)
    for second in range(150, 400, 10):
        for name in ("a", "c", "d"):
            silence.take(watch, message(name, second))
        for name in silence.overdue(watch):
            silence.seen_elsewhere(watch, name, (START_S + second) * 1000)
        assert silence.check(watch) == []


def test_a_host_that_was_taken_away_is_followed_no_more() -> None:
    watch, found = silence.new(), []
    for second in range(0, 90_000, 20):
        for name in ("a", "c", "d") if second > 1000 else ("a", "b", "c", "d"):
            silence.take(watch, message(name, second))
        found += silence.check(watch)
    assert "b" not in watch["hosts"]
    assert found[-1]["state"] == "cleared"


def test_before_any_host_has_reported_nothing_is_silent() -> None:
    assert silence.check(silence.new()) == []


@pytest.mark.parametrize("back_s", [8, 300, 3600])
def test_after_its_clock_was_set_back_a_host_is_silent_from_its_last_sample_by_the_new_clock(back_s: int) -> None:
    watch, found = silence.new(), []
    for second in range(0, 400, 10):
        for name in ("a", "b", "c", "d"):
            if name != "b" or second < 200:
                silence.take(watch, message(name, second, skew_s=-back_s if name == "b" and second >= 100 else 0.0))
        found += silence.check(watch)
    assert {f["host"] for f in found} == {"b"}
    assert found[0]["started_at"] == rfc3339((START_S + 190 - back_s) * 1000)


def test_a_host_of_which_one_input_lags_behind_another_keeps_its_newest_time() -> None:
    watch = silence.new()
    for second in range(0, 200, 10):
        silence.take(watch, message("a", second))
        silence.take(watch, Message("ovs_offload", {"host": "a"}, (START_S + second - 9) * 10**9, {}))
        assert watch["hosts"]["a"]["at"] == (START_S + second) * 1000


def watched(*names: str, second: float = 0.0) -> silence.Watch:
    watch = silence.new()
    for name in names:
        silence.take(watch, message(name, second))
    silence.check(watch)
    return watch


def beat(watch: silence.Watch, seconds: Iterable[int], *names: str) -> list[dict[str, Any]]:
    """What a check each time says while these hosts report."""
    found = []
    for second in seconds:
        for name in names:
            silence.take(watch, message(name, second))
        found += silence.check(watch)
    return found


def test_a_host_is_silent_a_minute_after_its_last_sample_and_not_before() -> None:
    watch = watched("a", "b", "c", "d")
    assert beat(watch, [10, 30, 50, 59], "a", "c", "d") == []
    assert silence.overdue(watch) == []
    for name in ("a", "c", "d"):
        silence.take(watch, message(name, 60))
    assert silence.overdue(watch) == ["b"]
    [found] = silence.check(watch)
    assert (found["host"], found["started_at"], found["at"]) == ("b", rfc3339(START_S * 1000), rfc3339((START_S + 60) * 1000))
    assert "has not reported for 60 s" in found["summary"]
    assert found["evidence"][0]["value"] == 60.0
    assert found["evidence"][0]["expected"].startswith("< 60 s")


def test_an_active_silence_is_repeated_after_a_while() -> None:
    watch = watched("a", "b", "c", "d")
    found = beat(watch, range(10, 121, 1), "a", "c", "d")
    times = [(silence_of["at"]) for silence_of in found]
    assert times == [rfc3339((START_S + second) * 1000) for second in range(60, 121, 15)]


def test_a_host_that_reports_every_twenty_seconds_is_silent_after_five_of_its_intervals() -> None:
    watch = watched("a", "b", "c", "d")
    for second in range(20, 4001, 20):
        beat(watch, [second], "a", "b", "c", "d")
    host = watch["hosts"]["b"]
    assert 19.9 < host["interval"] < 20.1
    limit = silence.limit_s(host)
    assert limit == 5 * host["interval"]
    assert beat(watch, range(4010, 4000 + int(limit), 10), "a", "c", "d") == []
    assert {found["host"] for found in beat(watch, [4000 + int(limit) + 1], "a", "c", "d")} == {"b"}


@pytest.mark.parametrize(
    ("gap_s", "interval"), [(0.5, 10.0), (0.6, 0.9 * 10 + 0.1 * 0.6), (20, 11.0), (59, 0.9 * 10 + 0.1 * 59), (60, 10.0), (0, 10.0)]
)
def test_the_interval_of_a_host_is_learned_from_gaps_that_are_neither_tiny_nor_silences(gap_s: float, interval: float) -> None:
    watch = watched("a")
    silence.take(watch, message("a", gap_s))
    assert watch["hosts"]["a"]["interval"] == pytest.approx(interval)


@pytest.mark.parametrize(("jump_s", "silent"), [(30, True), (30.002, False)])
def test_a_jump_of_the_fleet_s_clock_is_no_silence(jump_s: float, silent: bool) -> None:
    watch = watched("a", "b", "c", "d")
    assert beat(watch, range(10, 41, 10), "a", "c", "d") == []
    for name in ("a", "c", "d"):
        silence.take(watch, message(name, 40 + jump_s))
    assert bool(silence.check(watch)) is silent


@pytest.mark.parametrize(
    ("after_s", "announced"),
    [(-61, False), (-60, True), (0, True), (300, True), (301, False)],
)
def test_a_shutdown_explains_a_silence_that_begins_within_five_minutes(after_s: int, announced: bool) -> None:
    """How long after the announcement the host's last sample was."""
    watch = watched("a", "b", "c", "d")
    for second in range(10, 401, 10):
        beat(watch, [second], "a", "b", "c", "d")
    watch["hosts"]["b"]["shutdown"] = (START_S + 400 - after_s) * 1000
    found = beat(watch, range(410, 461, 10), "a", "c", "d")
    assert found[0]["severity"] == ("warning" if announced else "critical")


def test_a_boot_ends_what_a_shutdown_announced() -> None:
    watch = watched("a", "b", "c", "d")
    silence.take(watch, message("b", 5, "host_shutdown"))
    silence.take(watch, message("b", 6, "host_booted"))
    assert beat(watch, range(10, 81, 10), "a", "c", "d")[0]["severity"] == "critical"


def test_a_silence_that_ends_is_cleared_at_the_host_s_first_sample() -> None:
    watch = watched("a", "b", "c", "d")
    raised = beat(watch, range(10, 101, 10), "a", "c", "d")
    [cleared] = beat(watch, [110], "a", "b", "c", "d")
    assert (cleared["state"], cleared["finding_id"], cleared["at"]) == ("cleared", raised[0]["finding_id"], rfc3339((START_S + 110) * 1000))
    assert cleared["summary"] == f"The host has been reporting again since {rfc3339((START_S + 110) * 1000)}."
    assert beat(watch, [120], "a", "b", "c", "d") == []


def test_a_rack_that_is_known_stays_known() -> None:
    watch = watched("a")
    silence.heard(watch, "a", "", (START_S + 1) * 1000)
    assert watch["hosts"]["a"]["rack"] == "r1"
    silence.heard(watch, "a", "r2", (START_S + 2) * 1000)
    assert watch["hosts"]["a"]["rack"] == "r2"
