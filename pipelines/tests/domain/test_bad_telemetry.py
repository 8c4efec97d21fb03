"""Telemetry that is wrong: what is lost is counted, the rest goes on, nothing stops and nothing is made up."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from wallwatch.domain.instants import rfc3339
from wallwatch.domain.symptoms.host_stage import EVENTS_PER_MINUTE, HOST, MOST_RNICS, Message, step
from wallwatch.domain.symptoms.peers import Peers
from wallwatch.domain.symptoms.signal_places import places
from wallwatch.jobs.host_state import HostState
from wallwatch_testing.stage_states import plain, read_again
from wallwatch_testing.stories import PCI, at_ns, datapath, detect, event, healthy, of, offload, port, second_of

S1 = {
    "flows_offloaded": 7300, "flow_insertions_per_s": 40.0, "flow_deletions_per_s": 40.0, "reoffloads_per_s": 36.0, "reoffload_ratio": 0.9,
    "counter_gap_p95_s": 11.0, "flows_overdue": 900,
}  # fmt: skip


def sick(seconds: range) -> Iterator[Message]:
    for second in seconds:
        yield from (port(second), offload(second, S1), datapath(second))


@pytest.mark.parametrize("value", ["many", -1, True, None, [1], {"a": 1}, float("nan"), float("inf"), 2**70])
@pytest.mark.parametrize("name", ["reoffload_ratio", "flows_offloaded", "max_idle_ms", "q_egress"])
def test_a_field_that_changes_its_type_or_range_is_as_good_as_missing(name: str, value: Any) -> None:
    story = [offload(s, {**S1, name: value if s >= 60 else S1.get(name, 10_000)}) for s in range(0, 200, 10)]
    found = of(detect(story), "S1")
    assert {f["state"] for f in found} == {"active"}
    json.dumps(found, allow_nan=False)


def test_values_that_are_no_measurement_are_counted() -> None:
    state = None
    for second in range(3):
        state, _ = step(state, offload(second, {"q_egress": "deep", "flows_offloaded": -1}))
    assert state[HOST]["wrong"] == 6


@pytest.mark.parametrize("value", ["fast", -1.0, None, "", [], float("nan")])
@pytest.mark.parametrize(
    "name", ["tx_gbps", "port_xmit_data", "out_of_sequence", "pci_link_width", "port_state", "admin_state", "aer_fatal"]
)
def test_a_port_that_says_nonsense_raises_nothing(name: str, value: Any) -> None:
    assert detect(m for s in range(0, 200, 10) for m in (port(s, {name: value}), offload(s))) == []


def test_counters_that_go_backwards_give_no_rate_and_no_symptom() -> None:
    def reset() -> Iterator[Message]:
        for second in range(0, 300, 10):
            start = 10**12 if second < 150 else 0
            counters = {"port_xmit_data": start + second, "port_rcv_data": start + second, "out_of_sequence": start, "aer_fatal": start}
            yield from (port(second, counters), offload(second))
            yield datapath(second, {"lookups_missed": start + second, "dpif_flow_del": start + second})

    assert detect(reset()) == []


def test_a_clock_that_is_minutes_off_makes_no_difference() -> None:
    skewed = [m._replace(at_ns=m.at_ns + 180 * 10**9) for m in sick(range(0, 120, 10))]
    assert len(detect(skewed)) == len(detect(sick(range(0, 120, 10))))


def test_a_sample_from_the_future_costs_a_few_samples_and_not_the_host() -> None:
    story = list(sick(range(0, 400, 10)))
    story.insert(40, offload(600, S1))  # ten minutes ahead; decode refuses what is further
    found = of(detect(story), "S1")
    assert found[-1]["at"] > found[len(found) // 2]["at"]
    assert len({f["finding_id"] for f in found}) == 1


def test_a_clock_that_is_set_back_is_followed() -> None:
    story = [*sick(range(600, 700, 10)), *healthy(range(0, 300, 10))]
    found = of(detect(story), "S1")
    assert found[-1]["state"] == "cleared"


BACK_S = [5, 8, 20, 30, 45, 59]


def stepped(story: list[Message], at: float, back_s: float) -> list[Message]:
    """The same messages of a host whose clock is set back at a second."""
    return [m if m.at_ns < at_ns(at) else m._replace(at_ns=m.at_ns - int(back_s * 1e9)) for m in story]


@pytest.mark.parametrize("back_s", BACK_S)
@pytest.mark.parametrize("every", [1, 10])
def test_after_a_step_of_the_clock_a_symptom_is_found_nearly_as_fast_as_without(every: int, back_s: int) -> None:
    story = [*healthy(range(0, 200, every)), *sick(range(200, 300, every))]
    usual = second_of(of(detect(story), "S1")[0])
    found = of(detect(stepped(story, 200, back_s)), "S1")
    assert second_of(found[0]) + back_s <= usual + max(8, 3 * every)


@pytest.mark.parametrize("back_s", BACK_S)
@pytest.mark.parametrize("every", [1, 10])
def test_after_a_step_of_the_clock_a_symptom_ends_once_and_its_messages_go_forward(every: int, back_s: int) -> None:
    story = [*sick(range(0, 200, every)), *healthy(range(200, 400, every))]
    found = of(detect(stepped(story, 200, back_s)), "S1")
    assert [f["state"] for f in found].count("cleared") == 1
    assert found[-1]["state"] == "cleared"
    assert len({f["finding_id"] for f in found}) == 1
    assert [f["at"] for f in found] == sorted({f["at"] for f in found})
    assert found[-1]["at"] <= rfc3339(at_ns(second_of(of(detect(story), "S1")[-1]) + max(15, 4 * every)) // 1_000_000)


def test_a_step_of_the_clock_is_followed_where_samples_come_out_of_order() -> None:
    healthy_before = [*healthy(range(0, 100)), *sick(range(100, 160))]
    story = stepped(healthy_before, 100, 30)
    order = sorted(range(len(story)), key=lambda i: i + (i * 7919) % 11)
    assert second_of(of(detect(story[i] for i in order), "S1")[0]) + 30 <= 115


def test_after_a_step_of_the_clock_sweeps_and_pauses_of_the_host_are_judged_by_its_new_time() -> None:
    story = stepped(list(healthy(range(0, 200))), 100, 3600)
    state: Any = None
    for message in story:
        state, _ = step(state, message)
    newest = story[-1].at_ns // 1_000_000
    assert state[HOST]["newest"] == newest
    assert {beat[0] for beat in state[HOST]["beat"].values()} == {newest}
    assert {one["at"] for one in state[HOST]["datapaths"].values()} == {newest}


def test_what_happened_before_a_step_of_the_clock_has_happened() -> None:
    story = [*healthy(range(0, 100)), event(99, "command_timeout", command="X"), event(99.5, "soft_lockup", pci="", driver="mlx5_core")]
    story += stepped(list(healthy(range(100, 300))), 100, 30)
    found = of(detect(story), "S2")
    assert [f["state"] for f in found].count("cleared") == 1
    assert len({f["finding_id"] for f in found}) == 1


def test_a_straggler_and_samples_out_of_order_are_no_step_of_the_clock() -> None:
    state: Any = None
    for second in [*range(0, 100), 55, 98, 97, 101, 99, 100, 103, 60, 102, 104, 107, 105, 106]:
        state, _ = step(state, offload(second))
    assert state[PCI].newest == offload(107).at_ns // 1_000_000
    assert len(places().fine.rows_of(state[PCI].fine, 0)) == 12


def test_a_host_that_floods_is_bounded_and_counted() -> None:
    flood = [offload(60 + i / 1000) for i in range(1, 2000)]
    state, found = None, []
    for message in [*healthy(range(0, 61, 10)), *flood, *sick(range(70, 160, 10))]:
        state, more = step(state, message)
        found += more
    assert state[HOST]["flooded"] > 1900
    assert of(found, "S1")


def test_events_without_end_are_bounded_and_counted() -> None:
    state = None
    for i in range(EVENTS_PER_MINUTE + 50):
        state, _ = step(state, event(i / 100, "command_timeout", command="X"))
    assert state[HOST]["flooded"] == 50
    assert len(json.dumps(state)) < 20_000


def test_names_of_rnics_without_end_are_bounded_and_counted() -> None:
    state = None
    for i in range(MOST_RNICS + 10):
        state, _ = step(state, port(1, pci=f"0000:{i:02x}:00.0"))
    assert state[HOST]["flooded"] == 10


def test_many_events_left_out_by_the_collector_count_as_many() -> None:
    story = [*healthy(range(0, 100, 10)), event(99, "command_timeout", left_out=500), event(99.5, "soft_lockup", pci="", driver="ice")]
    found = of(detect(story), "S2")
    assert next(e["value"] for e in found[0]["evidence"] if e["signal"] == "command_timeouts") == 501


def test_a_measurement_that_the_stage_does_not_know_is_ignored() -> None:
    assert step(None, Message("rnic_mask", {"host": "h", "pci": PCI}, 1_790_000_000_000_000_000, {})) == ({}, [])


def test_another_name_of_the_interface_changes_nothing() -> None:
    story = list(sick(range(0, 200, 10)))
    renamed = [m._replace(tags={**m.tags, "netdev": "eth7", "ibdev": "mlx5_9"}) if i > 30 else m for i, m in enumerate(story)]
    assert detect(renamed) == detect(story)


def test_a_reboot_in_the_middle_does_not_make_a_second_finding_of_an_rnic_symptom() -> None:
    narrow = {"pci_link_width": 4}
    story = [*healthy(range(0, 60, 10)), event(55, "cni_del"), event(56, "pcie_link_down")]
    story += [m for s in range(60, 100, 10) for m in (port(s, narrow), offload(s))]
    story += [event(130, "host_booted", pci="", shutdown="none"), *(m for s in range(140, 300, 10) for m in (port(s, narrow), offload(s)))]
    assert len({f["finding_id"] for f in of(detect(story), "S7")}) == 1


def test_state_of_a_former_version_is_gone_on_with() -> None:
    state: Any = None
    for message in sick(range(0, 100, 10)):
        state, _ = step(state, message)
    parts = plain(state)
    parts[PCI]["form"] = 0  # its windows have other places
    state = read_again(parts)
    state, found = step(state, offload(100, S1))
    assert {f["state"] for f in found} <= {"active"}
    assert of(detect(sick(range(110, 300, 10)), state), "S1")[-1]["state"] == "active"


def test_what_is_active_on_an_rnic_that_never_comes_back_ends_by_the_time_of_its_host() -> None:
    other = "0000:af:00.0"

    def taken_away() -> Iterator[Message]:
        for second in range(0, 3000, 10):
            yield from (port(second, pci=other), offload(second, pci=other), datapath(second))
            if second < 200:
                yield from (port(second), offload(second, S1))

    found = of(detect(taken_away()), "S1")
    assert [f["state"] for f in found][-1] == "cleared"
    assert {f["pci"] for f in found} == {PCI}
    assert len([f for f in found if f["state"] == "cleared"]) == 1
    assert "has not reported the RNIC since" in found[-1]["summary"]
    assert 190 + 1800 <= second_of(found[-1]) <= 190 + 1800 + 310


HUGE = 2**64 - 1
EIGHT = ",".join(["ets"] * 8), "0,1,2,3,4,5,6,7"


def settings_of(bandwidth: str) -> dict[str, Any]:
    return {"ets_bandwidth": bandwidth, "ets_algorithms": EIGHT[0], "ets_priority_classes": EIGHT[1]}


@pytest.mark.parametrize(
    "samples",
    [
        [{"roce_adp_retrans_to": n, "np_ecn_marked_roce_packets": HUGE, "RxECNMrkd": 5, "np_cnp_sent": 1} for n in (1, 2, 3)],
        [{"port_xmit_data": HUGE, "port_rcv_data": -(2**63), "qps": n} for n in (HUGE, -(2**63), HUGE)],
        [settings_of("\u00b2,50,0,0,0,0,0,0")],
        [settings_of("9" * 400 + ",50,0,0,0,0,0,0")],
        [settings_of("9" * 5000 + ",50,0,0,0,0,0,0")],
    ],
    ids=["sum", "huge", "superscript", "long", "very long"],
)
def test_numbers_that_no_driver_writes_neither_stop_the_stage_nor_its_checkpoint(samples: list[dict[str, Any]]) -> None:
    state, peers = HostState(), Peers()
    for number, fields in enumerate(samples):
        step(state, port(number * 10, fields), peers)
    assert {name for name, _ in state.take_unsaved()} == {HOST, PCI}


def test_peers_that_count_without_measure_do_not_fill_a_number() -> None:
    state, peers = HostState(), Peers()
    for second in range(0, 200, 10):
        for pci, at in ((PCI, "10.0.0.1"), ("0000:af:00.0", "10.0.0.2")):
            other = "10.0.0.2" if at == "10.0.0.1" else "10.0.0.1"
            count = {"duplicate_request": (second // 10 % 2) * (2**63 - 1), "roce_adp_retrans_to": second, "rx_read_requests": second}
            step(state, port(second, count, pci=pci, tags={"pci_id": "15b3:1015"}), peers)
            step(state, offload(second, {"tunnel_addresses": at, "tunnel_sources": f"{other}=5"}, pci=pci), peers)
    assert len(list(state.take_unsaved())) == 3


def test_growth_of_two_huge_counters_is_their_sum() -> None:
    most = 2**63 - 1
    state: Any = None
    for second in range(0, 110, 10):
        count = most if second == 100 else 0
        state, _ = step(state, port(second, {"out_of_sequence": count, "packet_seq_err": count}))
    assert state[PCI].trouble_parts == {"out_of_sequence": most, "packet_seq_err": most}
    assert state[PCI].trouble_mean.usual > 0.0
