"""Policies over streams of events."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.watch import TRACE_LENGTH, Event, Violation, Watch

S = 1_000_000


def event(kind: str, at_s: float, host: str = "host01", pci: str = "0000:17:00.0", **fields: Any) -> Event:
    return Event(kind, round(at_s * S), host, pci, fields)


def watching(*ids: str, most_subjects: int = 1000) -> Watch:
    return Watch([policies()[name] for name in ids], most_subjects)


def play(watch: Watch, *events: Event) -> list[Violation]:
    found = [violation for one in events for violation in watch.take(one)]
    return found + watch.tick(10**18)


def flow(kind: str, at_s: float, ufid: str = "ufid:1") -> Event:
    return event(f"flow_{kind}", at_s, flow=ufid)


POSITIVE = {
    "flow-entry-follows-offload": [flow("offloaded", 1), flow("entry_deleted", 2)],
    "flow-no-entry-before-offload": [flow("entry_created", 1)],
    "flow-offloaded-once": [flow("offloaded", 1), flow("offloaded", 2)],
    "flow-entry-created-once": [flow("entry_created", 1), flow("entry_created", 5)],
    "flow-entry-deleted-once": [flow("entry_deleted", 1), flow("entry_deleted", 5)],
    "flow-deleted-when-aged": [flow("offloaded", 0), flow("entry_created", 1), flow("entry_deleted", 2)],
    "flow-kept-while-used": [flow("entry_deleted", 1), flow("returned", 2), flow("offloaded", 2)],
    "flow-no-software-hit": [flow("entry_created", 1), flow("software_hit", 2)],
    "vf-one-container": [event("cni_add", 1, device="v", result="ok"), event("cni_add", 2, device="v", result="ok")],
    "vf-stays-while-used": [event("cni_add", 1, device="v", result="ok"), event("vf_vanished", 2, device="v")],
    "vf-bound-while-used": [event("cni_add", 1, device="v", result="ok"), event("vf_unbound", 2, device="v")],
    "rnic-link-survives-unbind": [event("cni_del", 1, device="v"), event("pcie_link_down", 20)],
    "rnic-link-comes-back": [event("pcie_link_down", 1)],
    "rnic-heartbeat": [event("device_health", 1)],
    "rnic-comes-back": [event("device_vanished", 1)],
    "rnic-creation-failures-are-survived": [event("command_failed", 1), event("kernel_oops", 30)],
    "command-answered": [event("command_timeout", 1, command="CREATE_FTE")],
    "host-cpus-run": [event("soft_lockup", 1)],
    "host-boots-announced": [event("host_booted", 1, shutdown="none")],
    "host-switch-answers": [event("ovs_unreachable", 1)],
    "address-one-container": [
        event("cni_add", 1, host="a", address="10.0.0.1/8", vxlan_network=7, result="ok"),
        event("cni_add", 2, host="b", address="10.0.0.1/8", vxlan_network=7, result="ok"),
    ],
}
NEAR_MISS = {
    "flow-entry-follows-offload": [flow("offloaded", 1), flow("entry_created", 2)],
    "flow-no-entry-before-offload": [flow("offloaded", 1), flow("entry_created", 2)],
    "flow-offloaded-once": [flow("offloaded", 1), flow("entry_created", 2), flow("offloaded", 3)],
    "flow-entry-created-once": [flow("entry_created", 1), flow("entry_deleted", 2), flow("entry_created", 5)],
    "flow-entry-deleted-once": [flow("entry_deleted", 1), flow("entry_created", 2), flow("entry_deleted", 5)],
    "flow-deleted-when-aged": [flow("entry_created", 1), flow("aged", 2), flow("entry_deleted", 2.000001)],
    "flow-kept-while-used": [flow("entry_deleted", 1), flow("offloaded", 30)],
    "flow-no-software-hit": [flow("entry_created", 1), flow("entry_deleted", 2), flow("software_hit", 3)],
    "vf-one-container": [
        event("cni_add", 1, device="v", result="ok"),
        event("cni_add", 2, device="v", result="refused"),
        event("cni_add", 3, device="w", result="ok"),
    ],
    "vf-stays-while-used": [
        event("cni_add", 1, device="v", result="ok"),
        event("cni_del", 2, device="v"),
        event("vf_vanished", 3, device="v"),
    ],
    "vf-bound-while-used": [
        event("cni_add", 1, device="v", result="ok"),
        event("cni_del", 2, device="v"),
        event("vf_unbound", 3, device="v"),
    ],
    "rnic-link-survives-unbind": [event("cni_del", 1, device="v"), event("pcie_link_down", 32)],
    "rnic-link-comes-back": [event("pcie_link_down", 1), event("pcie_link_up", 100)],
    "rnic-heartbeat": [event("port_down", 1)],
    "rnic-comes-back": [event("device_vanished", 1), event("device_appeared", 200)],
    "rnic-creation-failures-are-survived": [event("command_failed", 1), event("kernel_oops", 80)],
    "command-answered": [event("command_timeout", 1, command="CREATE_FTE"), event("command_recovered", 50, command="CREATE_FTE")],
    "host-cpus-run": [event("hung_task", 1)],
    "host-boots-announced": [event("host_booted", 1, shutdown="orderly"), event("host_booted", 9, shutdown="unknown")],
    "host-switch-answers": [event("ovs_unreachable", 1), event("ovs_reachable", 100)],
    "address-one-container": [
        event("cni_add", 1, host="a", address="10.0.0.1/8", vxlan_network=7, result="ok"),
        event("cni_add", 2, host="b", address="10.0.0.1/8", vxlan_network=8, result="ok"),
        event("cni_del", 3, host="a", address="10.0.0.1/8", vxlan_network=7),
        event("cni_add", 4, host="b", address="10.0.0.1/8", vxlan_network=7, result="ok"),
    ],
}


def test_every_policy_has_its_cases() -> None:
    assert set(POSITIVE) == set(NEAR_MISS) == set(policies())


@pytest.mark.parametrize("policy", sorted(POSITIVE))
def test_a_violation_is_reported_once(policy: str) -> None:
    found = play(watching(policy), *POSITIVE[policy])
    assert [violation.policy for violation in found] == [policy]
    assert found[0].trace[-1][0] == found[0].at_us


@pytest.mark.parametrize("policy", sorted(NEAR_MISS))
def test_a_near_violation_is_not_reported(policy: str) -> None:
    assert play(watching(policy), *NEAR_MISS[policy]) == []


def test_events_of_one_time_are_one_step() -> None:
    # Deleted and aged together: the entry was deleted because its flow had aged.
    assert play(watching("flow-deleted-when-aged"), flow("entry_created", 1), flow("entry_deleted", 2), flow("aged", 2)) == []


def test_after_a_violation_the_subject_is_watched_again() -> None:
    found = play(watching("flow-offloaded-once"), *(flow("offloaded", at) for at in (1, 2, 3, 4)))
    assert [violation.at_us for violation in found] == [2 * S, 3 * S, 4 * S]
    assert [len(violation.trace) for violation in found] == [2, 2, 2], "each from the step before, which is an offload too"
    alone = play(watching("rnic-heartbeat"), event("device_health", 1), event("device_health", 5))
    assert [len(violation.trace) for violation in alone] == [1, 1]


def test_a_step_that_violates_and_begins_again_keeps_its_timer() -> None:
    events = [event("vf_unbound", 1), event("vf_unbound", 5), event("pcie_link_down", 5), event("pcie_link_down", 30)]
    assert [one.at_us for one in play(watching("rnic-link-survives-unbind"), *events)] == [5 * S, 30 * S]
    events[-1] = event("pcie_link_down", 36)
    assert [one.at_us for one in play(watching("rnic-link-survives-unbind"), *events)] == [5 * S]


def test_a_timer_runs_on_the_events_of_its_host_alone() -> None:
    watch = watching("rnic-link-comes-back")
    assert watch.take(event("pcie_link_down", 1)) == []
    assert watch.take(event("cni_del", 500, host="another host, whose clock may be ahead", device="v")) == []
    assert watch.take(event("pcie_link_up", 60)) == []
    assert watch.tick(10**18) == []


def test_lost_events_hide_a_violation_and_never_make_one_up() -> None:
    watch = watching("flow-offloaded-once")
    watch.take(flow("offloaded", 1))
    assert watch.lost("host01") == []
    assert watch.coverage()["flow-offloaded-once"] == {"subjects": 1, "unknown": 1, "violations": 0}
    assert watch.take(flow("offloaded", 2)) == []
    # An offload without an entry after the last one: now it is known again.
    assert [violation.policy for violation in play(watch, flow("offloaded", 3))] == ["flow-offloaded-once"]


def test_what_was_seen_before_events_were_lost_still_violates() -> None:
    watch = watching("flow-offloaded-once")
    watch.take(flow("offloaded", 1))
    watch.take(flow("offloaded", 2))
    assert [violation.at_us for violation in watch.lost("host01")] == [2 * S]


@pytest.mark.parametrize(("kind", "unknown"), [("cni_lost", 1), ("kernel_log_lost", 0)])
def test_an_event_that_reports_lost_ones_concerns_the_subjects_of_its_source(kind: str, unknown: int) -> None:
    watch = watching("vf-one-container")
    play(watch, event("cni_add", 1, device="v", result="ok"), event(kind, 2))
    counts = watch.counts()["vf-one-container"]
    assert (counts.unknown, counts.gaps, counts.holding) == (unknown, unknown, 1 - unknown)


def test_after_lost_events_a_subject_is_known_again_by_its_next_events() -> None:
    watch = watching("flow-entry-follows-offload", "flow-deleted-when-aged", "flow-no-software-hit")
    play(watch, flow("offloaded", 1), flow("entry_created", 2))
    watch.lost("host01")
    assert {counts.unknown for counts in watch.counts().values()} == {1}
    play(watch, flow("aged", 3), flow("entry_deleted", 4), flow("offloaded", 5), flow("entry_created", 6))
    assert {counts.unknown for counts in watch.counts().values()} == {0}


def test_an_event_that_comes_late_makes_its_subject_unknown() -> None:
    watch = watching("flow-entry-follows-offload")
    for one in (flow("offloaded", 1), flow("entry_deleted", 5), flow("entry_created", 2)):
        assert watch.take(one) == []
    assert watch.late == 1
    assert watch.tick(10**18) == []


def test_a_boot_ends_what_the_host_had() -> None:
    watch = watching("vf-one-container", "address-one-container")
    add: dict[str, Any] = {"device": "v", "result": "ok", "address": "10.0.0.1/8", "vxlan_network": 7}
    assert play(watch, event("cni_add", 1, **add), event("host_booted", 60, shutdown="none"), event("cni_add", 90, **add)) == []


def test_memory_is_bounded_and_what_was_forgotten_is_counted() -> None:
    watch = watching("flow-offloaded-once", most_subjects=10)
    for number in range(25):
        watch.take(flow("offloaded", number, f"ufid:{number}"))
    assert watch.evicted == 15
    assert watch.coverage()["flow-offloaded-once"]["subjects"] == 10
    assert play(watch, flow("offloaded", 100, "ufid:24"))


def test_a_subject_that_was_forgotten_and_comes_again_is_unknown() -> None:
    watch = watching("flow-no-entry-before-offload", most_subjects=1)
    # Flow 1 was offloaded before it was forgotten; taken as new, its entry would violate.
    assert play(watch, flow("offloaded", 1, "ufid:1"), flow("offloaded", 2, "ufid:2"), flow("entry_created", 3, "ufid:1")) == []
    assert watch.counts()["flow-no-entry-before-offload"].unknown == 1


def test_a_subject_that_can_have_no_verdict_any_more_is_not_taken_for_a_new_one() -> None:
    watch = watching("flow-no-entry-before-offload")
    assert play(watch, flow("offloaded", 1)) == []
    assert play(watch, flow("entry_created", 2)) == []
    assert watch.counts()["flow-no-entry-before-offload"].satisfied == 1


def test_a_trace_shows_the_last_steps() -> None:
    events = [flow(kind, at) for at in range(0, 60, 2) for kind, at in (("entry_created", at), ("entry_deleted", at + 1))]
    found = play(watching("flow-entry-deleted-once"), *events, flow("entry_deleted", 100))
    assert len(found[0].trace) == TRACE_LENGTH
    assert found[0].trace[-2:] == ((59 * S, ("FE_DELETE",)), (100 * S, ("FE_DELETE",)))


@given(
    st.lists(st.tuples(st.sampled_from(["offloaded", "entry_created", "entry_deleted"]), st.integers(0, 2), st.integers(0, 5)), max_size=60)
)
def test_policies_watched_together_say_what_each_says_alone(steps: list[tuple[str, int, int]]) -> None:
    events, now = [], 0
    for kind, number, pause in steps:
        now += pause
        events.append(flow(kind, now, f"ufid:{number}"))
    names = ["flow-entry-follows-offload", "flow-offloaded-once", "flow-entry-deleted-once"]
    together = play(watching(*names), *events)
    for name in names:
        assert [one for one in together if one.policy == name] == play(watching(name), *events)


_KINDS = ["offloaded", "entry_created", "entry_deleted", "aged", "software_hit"]


@given(st.lists(st.tuples(st.sampled_from(_KINDS), st.integers(0, 1), st.booleans()), max_size=40))
def test_lost_events_take_violations_away_and_add_none(story: list[tuple[str, int, bool]]) -> None:
    names = [name for name in policies() if name.startswith("flow-")]
    events = [flow(kind, at, f"ufid:{number}") for at, (kind, number, _) in enumerate(story)]
    whole = {(one.policy, one.subject, one.at_us) for one in play(watching(*names), *events)}
    watch, found = watching(*names), list[Violation]()
    for one, (_, _, lost) in zip(events, story, strict=True):
        found += watch.lost("host01") if lost else watch.take(one)
    found += watch.tick(10**18)
    assert {(one.policy, one.subject, one.at_us) for one in found} <= whole


@given(st.lists(st.tuples(st.sampled_from(sorted(POSITIVE)), st.integers(0, 1), st.integers(0, 40)), max_size=30), st.integers(0, 60))
def test_a_watch_that_was_stored_goes_on_as_if_nothing_had_been(story: list[tuple[str, int, int]], cut: int) -> None:
    events, now = [], 0
    for name, which, pause in story:
        now += pause
        for one in (POSITIVE, NEAR_MISS)[which][name]:
            events.append(Event(one.kind, now * S, one.host, one.pci, one.fields))
            now += 1
    first, second = watching(*policies(), most_subjects=3), watching(*policies(), most_subjects=3)
    found = [violation for one in events[:cut] for violation in first.take(one)]
    second.load(orjson.loads(orjson.dumps(first.dump())))
    assert found + play(second, *events[cut:]) == play(watching(*policies(), most_subjects=3), *events)
