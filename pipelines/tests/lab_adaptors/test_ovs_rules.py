"""Rules and packets for Open vSwitch, and its counts, without a switch."""

import re

import pytest

from wallwatch.lab.adaptors.ovs.device import PARAMETERS
from wallwatch.lab.adaptors.ovs.rules import MOST_MASKS, Plan, address, packets, rules
from wallwatch.lab.adaptors.ovs.unixctl import counts
from wallwatch.lab.adaptors.parameters import completed
from wallwatch.lab.adaptors.serve import DeviceFailed


def plan(**changes: int | bool) -> Plan:
    return Plan(**({"masks": 5, "flows_per_mask": 3, "tables": 2, "conntrack": False, "output": 9} | changes))  # type: ignore[arg-type]


def test_every_mask_is_another_one() -> None:
    matches = [re.search(r"nw_src=[^/]+/(\d+)(?:,tp_dst=\w+/(\w+))?", rule) for rule in rules(plan(masks=MOST_MASKS))]
    masks = [found.groups() for found in matches if found]
    assert len(masks) == len(set(masks)) == MOST_MASKS


def test_each_flow_has_a_rule_and_a_packet_per_port() -> None:
    text = list(rules(plan()))
    assert sum("table=0,priority=10" in rule for rule in text) == 15
    assert sum("table=3," in rule for rule in text) == 5
    sent = packets(plan(), 200, ports=2)
    assert len(sent) == len(set(sent)) == 30
    assert {len(frame) for _, frame in sent} == {200}
    assert {port for port, _ in sent} == {0, 1}


def test_packets_have_a_valid_ip_header() -> None:
    for _, frame in packets(plan(), 64, ports=1):
        header = frame[14:34]
        total = sum(int.from_bytes(header[i : i + 2]) for i in range(0, 20, 2))
        assert (total & 0xFFFF) + (total >> 16) == 0xFFFF
        assert int.from_bytes(header[2:4]) == 50


def test_connections_go_through_the_tracker_before_their_masks() -> None:
    text = list(rules(plan(conntrack=True)))
    assert sum("ct(commit,zone=1,table=1)" in rule for rule in text) == 15
    assert not any("ct(" in rule for rule in rules(plan()))


def test_more_masks_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="addresses for 544 masks"):
        address(MOST_MASKS, 0)


def test_the_default_configuration_is_inside_its_ranges() -> None:
    assert completed(PARAMETERS, {})[1] == []


def test_counts_sum_over_threads() -> None:
    shown = "".join(
        f"{thread}:\n  packets received: {packets}\n  simple match hits: 0\n  emc hits: 10\n  smc hits: 0\n  megaflow hits: {hits}\n"
        f"  avg. subtable lookups per megaflow hit: {lookups}\n  miss with success upcall: 1\n  miss with failed upcall: 2\n"
        for thread, packets, hits, lookups in (("main thread", 100, 90, 4.0), ("pmd thread numa_id 0 core_id 1", 20, 10, 1.0))
    )
    counted = counts(shown)
    assert counted.packets == 120
    assert counted.missed == 6
    assert counted.lookups_per_megaflow_hit == pytest.approx(3.7)
    assert counted.lookups_per_packet == pytest.approx((20 + 370) / 120)


def test_counts_of_no_packet_are_zero_and_another_form_is_refused() -> None:
    assert counts("  packets received: 0\n  megaflow hits: 0\n").lookups_per_packet == 0
    with pytest.raises(DeviceFailed, match="another form"):
        counts("unknown command")
