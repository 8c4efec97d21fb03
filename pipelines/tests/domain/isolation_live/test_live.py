"""One RNIC in the stream: broken seconds at once, minutes that add up, unknown gaps, and the newest state."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from wallwatch.domain.isolation import messages as forms
from wallwatch.domain.isolation.assignment import Assigned, Book, Condition, Facts, Rule, assigned, slo_of
from wallwatch.domain.isolation.live import RnicStream
from wallwatch_testing.vf_traffic import SharedRnic

START = 1_790_000_040.0  # the begin of a minute
BOOK = Book({"gold": slo_of(50, 2_000, None, 200.0, 0.001)}, (Rule((Condition("namespace", "=", "a"),), "gold"),))
PODS = {number: f"a/web-{number}" for number in range(8)} | {3: "b/bulk-0"}


def facts_of(vf: int) -> Facts:
    return Facts("h1", "0000:3b:00.0", vf, "r1", "CX-6", PODS.get(vf, ""))


def of_book(facts: Facts) -> tuple[Assigned | None, str]:
    return assigned(facts, BOOK)


def stream() -> RnicStream:
    made = RnicStream("h1", "0000:3b:00.0", "r1")
    made.promise(facts_of, of_book, 1)
    return made


def played(made: RnicStream, messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    out = []
    for message in messages:
        out += made.step(message["timestamp"] / 1e9, message["fields"])
    return out


def storm(second: int) -> bool:
    return 130 <= second < 150


def test_a_storm_is_sent_second_by_second_with_victims_and_the_aggressor() -> None:
    out = played(stream(), SharedRnic("h1").series(START, 240, storm))
    broken = [one for one in out if one["kind"] == "broken"]
    seconds = {round(datetime.fromisoformat(one["at"]).timestamp() - START) for one in broken}
    assert seconds == set(range(130, 150))
    assert {tuple(part["vf"] for part in one["aggressors"]) for one in broken} == {(3,)}
    assert {one["mechanism"] for one in broken} == {"ingress packet rate"}
    assert all({part["pod"] for part in one["vfs"]} <= {PODS[number] for number in range(8) if number != 3} for one in broken)
    assert broken[0]["aggressors"][0]["tenant"] == "b"
    assert broken[0]["aggressors"][0]["share"] > broken[0]["aggressors"][0]["fair_share"]
    assert not broken[0]["estimated"]


def test_the_seconds_of_a_minute_add_up_and_the_aggressor_has_its_own() -> None:
    out = played(stream(), SharedRnic("h1").series(START, 241, storm))
    minutes = {round(datetime.fromisoformat(one["at"]).timestamp() - START) // 60: one for one in out if one["kind"] == "minute"}
    assert sorted(minutes) == [0, 1, 2, 3]
    for part in minutes[2]["vfs"]:
        total = part["kept_s"] + part["broken_s"] + part["unknown_s"] + part["not_promised_s"]
        assert total == pytest.approx(60.0, abs=1e-6)
    by_vf = {part["vf"]: part for part in minutes[2]["vfs"]}
    # Seconds 130 to 149 end there, so the first of them began at 129.
    assert by_vf[0]["broken_s"] == pytest.approx(20.0)
    assert by_vf[0]["state"] == "broken"
    assert (by_vf[3]["broken_s"], by_vf[3]["aggressor_s"]) == (0.0, pytest.approx(20.0))
    assert by_vf[3]["state"] == "not promised"
    assert by_vf[0]["slo"] == "gold"
    calm = {part["vf"]: part for part in minutes[1]["vfs"]}[0]
    assert calm["rx_mbps"] == pytest.approx(0.1 * 700 * 8, rel=0.02)
    assert (calm["kept_s"], calm["state"]) == (pytest.approx(60.0), "kept")


def test_every_message_has_the_form_that_ingest_requires() -> None:
    out = played(stream(), SharedRnic("h1").series(START, 200, storm))
    latest = datetime.fromtimestamp(START + 1000, UTC)
    kinds = Counter(type(forms.decode(orjson.dumps(one), latest)).__name__ for one in out)
    assert set(kinds) == {"BrokenMessage", "MinuteMessage", "NowMessage"}


def test_a_calm_rnic_sends_one_minute_and_one_state_per_minute() -> None:
    rnic = SharedRnic("h1")
    out = played(stream(), (rnic.step(START + 10 * i, 10.0) for i in range(61)))
    kinds = Counter(one["kind"] for one in out)
    assert kinds == {"minute": 10, "now": 10 + 1}  # and the state once when it is first known


def test_ten_seconds_in_one_are_estimated_and_count_as_a_whole() -> None:
    rnic, made = SharedRnic("h1"), stream()
    for i in range(30):
        made.step(START + 10 * i, rnic.step(START + 10 * i, 10.0)["fields"])
    out = made.step(START + 300, rnic.step(START + 300, 10.0, storm=True)["fields"])
    broken = next(one for one in out if one["kind"] == "broken")
    assert (broken["estimated"], broken["interval_s"]) == (True, 10.0)


def test_an_interval_in_which_most_vfs_started_again_is_unknown_for_all_and_breaks_nothing() -> None:
    rnic, made = SharedRnic("h1"), stream()
    out = played(made, rnic.series(START, 30, lambda second: second >= 20))
    before = sum(one["kind"] == "broken" for one in out)
    for vf in range(6):
        rnic.generations[vf] = f"{vf}-2"
    message = next(iter(rnic.series(START + 30, 1, lambda second: True)))
    reset = played(made, [message])
    assert before > 0
    assert [one["kind"] for one in reset] == []
    minute = next(one for one in played(made, rnic.series(START + 31, 60)) if one["kind"] == "minute")
    assert {part["vf"]: part["unknown_s"] >= 1.0 for part in minute["vfs"] if part["vf"] in (6, 7)} == {6: True, 7: True}


def test_a_gap_is_unknown_in_every_minute_that_it_touches_and_never_kept() -> None:
    rnic, made = SharedRnic("h1"), stream()
    out = played(made, rnic.series(START, 31))
    at = START + 30 + 90
    out += made.step(at, rnic.step(at, 90.0)["fields"])
    out += played(made, rnic.series(at + 1, 61))
    minutes = [one for one in out if one["kind"] == "minute"]
    first, second = ({part["vf"]: part for part in one["vfs"]}[0] for one in minutes[:2])
    assert (first["kept_s"], first["unknown_s"]) == (pytest.approx(30.0), pytest.approx(30.0))
    assert (second["kept_s"], second["unknown_s"], second["state"]) == (0.0, pytest.approx(60.0), "unknown")


def test_the_newest_state_has_promise_role_and_limit() -> None:
    out = played(stream(), SharedRnic("h1").series(START, 140, storm))
    now = [one for one in out if one["kind"] == "now"][-1]
    rows = {row["vf"]: row for row in now["vfs"]}
    assert now["doubt"] == "port drops"
    assert now["port_mbps"] == 25_000
    assert (rows[0]["role"], rows[0]["state"], rows[3]["role"]) == ("victim", "broken", "aggressor")
    assert rows[0]["slo"] == {
        "name": "gold", "source": "rule", "rule": 0, "min_mbps": 50.0, "max_mbps": 2000.0, "p50_us": None, "p99_us": 200.0, "loss": 0.001,
    }  # fmt: skip
    assert rows[3]["slo"] is None
    assert rows[3]["limit_mbps"] is None  # 0 is no limit


def test_a_vf_that_is_bound_again_starts_another_row_in_the_same_minute() -> None:
    rnic, made = SharedRnic("h1"), stream()
    out = played(made, rnic.series(START, 30))
    rnic.generations[0] = "0-2"
    out += played(made, rnic.series(START + 30, 35))
    minute = next(one for one in out if one["kind"] == "minute")
    assert {part["generation"] for part in minute["vfs"] if part["vf"] == 0} == {"0-1", "0-2"}
    assert {part["generation"] for part in minute["vfs"] if part["vf"] == 1} == {"1-1"}


@pytest.mark.parametrize(("before", "after", "named"), [("a/one", "", "a/one"), ("", "b/two", "b/two"), ("a/one", "b/two", "a/one")])
def test_the_minute_in_which_a_pod_is_deleted_stays_its_own(before: str, after: str, named: str) -> None:
    rnic, made = SharedRnic("h1"), stream()
    made.promise(lambda vf: facts_of(vf)._replace(pod=before), of_book, 1)
    out = played(made, rnic.series(START, 30))
    made.promise(lambda vf: facts_of(vf)._replace(pod=after), of_book, 2)
    out += played(made, rnic.series(START + 30, 92))
    first, second = ({part["vf"]: part["pod"] for part in one["vfs"]}[0] for one in out if one["kind"] == "minute")
    assert (first, second) == (named, after)


def test_a_vf_that_was_removed_is_counted_and_shown_no_more() -> None:
    rnic, made = SharedRnic("h1"), stream()
    played(made, rnic.series(START, 60))
    for message in rnic.series(START + 60, 62):
        message["fields"]["vfs"] = orjson.dumps(orjson.loads(message["fields"]["vfs"])[:6]).decode()
        out = made.step(message["timestamp"] / 1e9, message["fields"])
        if out:
            last = out
    assert {one["kind"]: {part["vf"] for part in one["vfs"]} for one in last} == {"minute": set(range(6)), "now": set(range(6))}


def test_other_rules_hold_from_the_next_message_on() -> None:
    rnic, made = SharedRnic("h1"), stream()
    played(made, rnic.series(START, 30))
    made.promise(facts_of, lambda facts: (None, ""), 2)
    out = played(made, rnic.series(START + 30, 60))
    minute = [one for one in out if one["kind"] == "minute"][-1]
    part = {part["vf"]: part for part in minute["vfs"]}[0]
    assert (part["kept_s"], part["not_promised_s"]) == (pytest.approx(29.0, abs=1.0), pytest.approx(31.0, abs=1.0))


def test_the_same_message_twice_and_a_late_one_change_nothing() -> None:
    rnic, made = SharedRnic("h1"), stream()
    series = list(rnic.series(START, 50))
    played(made, series)
    assert played(made, [series[-1], series[-3]]) == []
    assert made.counts["duplicates"] + made.counts["late"] == 2


@pytest.mark.parametrize("vfs", ["[", '{"a": 1}', '[["x", "g"]]', "[5]", '[[-1, "g"]]', "[[0, 7]]", '[[0, "g", "12"]]', '[[0, "g", [1]]]'])
def test_an_unreadable_list_of_vfs_is_refused_with_a_reason(vfs: str) -> None:
    with pytest.raises(ValueError, match="vfs"):
        stream().step(START, {"vfs": vfs})


def test_a_message_with_a_value_that_is_no_number_does_not_spoil_the_next_one() -> None:
    rnic, made = SharedRnic("h1"), stream()
    series = list(rnic.series(START, 3))
    bad = orjson.loads(series[1]["fields"]["vfs"])
    bad[0][2] = "many"
    made.step(START, series[0]["fields"])
    with pytest.raises(ValueError, match="VF 0 is not a number"):
        made.step(START + 1, {**series[1]["fields"], "vfs": orjson.dumps(bad).decode()})
    made.step(START + 2, series[2]["fields"])
    assert made.verdict is not None
    assert made.verdict.interval_s == 2.0
