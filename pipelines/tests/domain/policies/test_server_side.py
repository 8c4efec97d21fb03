"""Policies that cross hosts: events in the order of their times, whatever the order in which partitions are read."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.ordered import Ordered
from wallwatch.domain.policies.server_side import ServerSidePolicies
from wallwatch.domain.policies.step import Event

S = 1_000_000
ADDRESS = policies()["address-one-container"]
COMMAND = policies()["command-answered"]


def container(kind: str, host: str, at_s: float, address: str = "10.0.0.1") -> Event:
    return Event(kind, round(at_s * S), host, "0000:17:00.0", {"result": "ok", "address": address, "vxlan_network": 7})


def stage_of(*chosen: Any, partitions: int = 2, most: int = 100) -> ServerSidePolicies:
    return ServerSidePolicies(chosen or [ADDRESS], range(partitions), 30 * S, most)


def reported(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["fields"]["policy"], one["tags"]["host"]) for one in messages]


def test_an_event_waits_until_no_partition_can_bring_an_earlier_one() -> None:
    ordered = Ordered([0, 1], 30 * S)
    for partition, at_s in ((0, 100), (0, 500), (1, 200)):
        ordered.advance(partition, at_s * S)
        ordered.add(partition, at_s, container("cni_add", "h", at_s))
    assert [event.at_us for event in ordered.ready(10_000 * S)] == [100 * S]
    assert ordered.settled_us(10_000 * S) == 170 * S
    ordered.ended(1)
    assert [event.at_us for event in ordered.ready(10_000 * S)] == [200 * S]
    ordered.ended(0)
    assert [event.at_us for event in ordered.ready(10_000 * S)] == [500 * S]


def test_a_clock_that_is_ahead_does_not_carry_the_others_along() -> None:
    ordered = Ordered([0], 30 * S)
    ordered.advance(0, 10_000 * S)
    assert ordered.settled_us(1_000 * S) == 970 * S


def test_an_address_that_moves_is_no_violation_whichever_host_is_read_first() -> None:
    stage = stage_of()
    stage.hear(1, 0, container("cni_add", "b", 20), "r2")
    stage.ended(1)
    assert stage.work(40 * S) == []
    stage.hear(0, 0, container("cni_add", "a", 1), "r1")
    stage.hear(0, 1, container("cni_del", "a", 10), "r1")
    stage.ended(0)
    assert stage.work(1_000 * S) == []


def test_an_address_that_is_used_twice_is_reported_with_the_rack_of_the_second() -> None:
    stage = stage_of()
    stage.hear(0, 0, container("cni_add", "a", 1), "r1")
    stage.hear(1, 0, container("cni_add", "b", 20), "r2")
    for partition in (0, 1):
        stage.ended(partition)
    stage.heard_of("a", 35 * S)
    found = stage.work(1_000 * S)
    assert reported(found) == [("address-one-container", "b")]
    assert found[0]["tags"]["rack"] == "r2"
    assert stage.work(2_000 * S) == []


def used_twice_while_a_does_not_report() -> ServerSidePolicies:
    stage = stage_of()
    stage.hear(0, 0, container("cni_add", "a", 1), "r1")
    stage.hear(1, 0, container("cni_add", "b", 20), "r2")
    for partition in (0, 1):
        stage.ended(partition)
    assert stage.work(1_000 * S) == []
    assert stage.waits_for() == {"a"}
    return stage


def test_a_violation_over_two_hosts_is_reported_when_the_other_host_reports_again() -> None:
    stage = used_twice_while_a_does_not_report()
    stage.heard_of("a", 34 * S)
    assert stage.work(1_001 * S) == []
    kept = orjson.loads(orjson.dumps(stage.dump()))
    stage = stage_of()
    stage.load(kept)
    (before,) = stage.states(1_020 * S)
    stage.hear(0, 1, Event("port_up", 35 * S, "a"), "r1")
    assert reported(stage.work(1_050 * S)) == [("address-one-container", "b")]
    (after,) = stage.states(1_080 * S)
    assert [state["fields"]["violations"] for state in (before, after)] == [0, 1]
    assert stage.waits_for() == set()


def test_an_event_that_was_kept_back_by_its_host_makes_no_violation() -> None:
    """The host's network was away while it gave the address up, and another host took it."""
    stage = used_twice_while_a_does_not_report()
    stage.hear(0, 1, container("cni_del", "a", 10), "r1")
    stage.hear(0, 2, Event("port_up", 900 * S, "a"), "r1")
    assert stage.work(1_001 * S) == []
    (state,) = stage.states(1_080 * S)
    assert [state["fields"][name] for name in ("violations", "late", "unknown")] == [0, 1, 1]
    assert stage.waits_for() == set()


def test_the_subjects_of_a_host_that_is_silent_for_an_hour_are_unknown_and_not_reported() -> None:
    stage = used_twice_while_a_does_not_report()
    assert stage.work(3_621 * S) == []
    (state,) = stage.states(3_660 * S)
    assert [state["fields"][name] for name in ("violations", "unknown")] == [0, 1]
    assert stage.waits_for() == set()


def test_an_address_that_nobody_has_is_forgotten_after_an_hour_and_one_that_is_held_is_not() -> None:
    stage = stage_of()
    for at_s, kind, address in ((1, "cni_add", "gone"), (2, "cni_add", "held"), (3, "cni_del", "gone")):
        stage.hear(0, at_s, container(kind, "a", at_s, address), "")
    for partition in (0, 1):
        stage.ended(partition)
    stage.work(100 * S)
    kept = orjson.loads(orjson.dumps(stage.dump()))
    for restarted in (False, True):
        if restarted:
            stage = stage_of()
            stage.load(kept)
            for partition in (0, 1):
                stage.ended(partition)
        subjects = []
        for now_s in (3_600, 3_720):
            stage.work(now_s * S)
            subjects.append(stage.states(now_s * S)[0]["fields"]["subjects"])
        assert subjects == [2, 1]
    stage.hear(0, 10, container("cni_add", "a", 4_000, "held"), "")
    stage.hear(0, 11, container("cni_add", "a", 4_001, "gone"), "")
    stage.ended(0)
    assert [one["fields"]["subject"] for one in stage.work(5_000 * S)] == ["vxlan 7 held"]


def test_two_policies_that_one_event_violates_are_two_events() -> None:
    other = ADDRESS.model_copy(update={"id": "another"})
    stage = stage_of(ADDRESS, other)
    stage.hear(0, 0, container("cni_add", "a", 1, "10.0.0.1, fd00::1"), "")
    stage.hear(0, 1, container("cni_add", "b", 2, "10.0.0.1, fd00::1"), "")
    for partition in (0, 1):
        stage.ended(partition)
    stage.heard_of("a", 100 * S)
    found = stage.work(1_000 * S)
    assert len(found) == 4
    assert len({one["timestamp"] // 1000 for one in found}) == 4


def test_the_state_is_reported_once_per_minute_with_what_happened_since() -> None:
    stage = stage_of()
    assert [one["timestamp"] for one in stage.states(125 * S)] == [120 * S * 1000]
    assert stage.states(179 * S) == []
    for at_s, host in ((100, "a"), (101, "b"), (102, "c")):
        stage.hear(0, at_s, container("cni_add", host, at_s), "")
    for partition in (0, 1):
        stage.ended(partition)
    for host in "abc":
        stage.heard_of(host, 150 * S)
    stage.work(170 * S)
    (state,) = stage.states(185 * S)
    assert state["fields"] == {
        "subjects": 1, "holding": 1, "satisfied": 0, "unknown": 0, "coverage": 1.0, "violations": 2, "events": 3, "late": 0, "gaps": 0,
        "evicted": 0, "period_s": 60.0,
    }  # fmt: skip
    assert stage.states(240 * S)[0]["fields"]["violations"] == 0


def test_other_policies_keep_what_the_same_ones_knew_and_new_ones_begin_without() -> None:
    stage = stage_of()
    stage.hear(0, 0, container("cni_add", "a", 1), "")
    for partition in (0, 1):
        stage.ended(partition)
    stage.work(100 * S)
    assert not stage.use([ADDRESS.model_copy(update={"severity": "warning"})]), "words alone change no verdict"
    strict = ADDRESS.model_copy(update={"id": "strict", "formula": "!ADDRESS_FREE U ADDRESS_GIVEN"})
    assert stage.use([ADDRESS, strict])
    # The address is given since long before the new policy looks.
    stage.hear(0, 1, container("cni_del", "a", 110), "")
    stage.hear(0, 2, container("cni_add", "b", 120), "")
    stage.hear(0, 3, container("cni_add", "c", 130), "")
    stage.ended(0)
    stage.heard_of("b", 150 * S)
    assert reported(stage.work(1_000 * S)) == [("address-one-container", "c")]


STORY = st.lists(
    st.tuples(st.sampled_from(["cni_add", "cni_del", "cni_lost", "host_booted"]), st.integers(0, 1), st.integers(0, 2)), max_size=30
)


@given(STORY, st.integers(0, 30), st.integers(0, 40))
def test_a_stage_that_was_stored_says_the_rest_and_nothing_else(story: list[tuple[str, int, int]], cut: int, pause_s: int) -> None:
    events = [container(kind, f"h{host}", at, f"10.0.0.{number}") for at, (kind, host, number) in enumerate(story)]
    cut = min(cut, len(events))
    whole, first, second = stage_of(), stage_of(), stage_of()
    for at, event in enumerate(events):
        for stage in (whole, first if at < cut else second):
            stage.hear(int(event.host[1:]), at, event, "r")
    reports = first.work((cut + pause_s) * S)
    second.load(orjson.loads(orjson.dumps(first.dump())))
    for stage in (whole, second):
        for partition in (0, 1):
            stage.ended(partition)
            stage.heard_of(f"h{partition}", 9_000 * S)
    assert reports + second.work(10_000 * S) == whole.work(10_000 * S)
