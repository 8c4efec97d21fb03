"""The flow table of the second world follows Open vSwitch's rules: who deletes an entry, and what a dump shows of it."""

import re

import numpy as np
import pytest
from tests.raw_hosts import flow_text
from tests.raw_hosts.flow_table import FlowTable, Settings
from tests.raw_hosts.flow_text import Ends, Line, Shape
from tests.raw_hosts.releases import OVS_2_17, OVS_3_3, Release
from tests.raw_hosts.traffic import Pattern, busy, checkpoints


def table_of(pattern: Pattern, flows: int = 200, settings: Settings | None = None, release: Release = OVS_3_3) -> FlowTable:
    table = FlowTable(1, settings, release)
    table.add([Line(b"ufid:0, in_port(p), packets:", b", dp:tc, actions:q")] * flows, pattern, 0, is_egress=True, installed=True)
    return table


def used(table: FlowTable) -> list[str]:
    return [re.search(rb"used:([\w.]+)", line)[1].decode() for line in table.dump()]  # type: ignore[index]


def test_busy_flows_whose_counters_are_read_in_time_are_never_deleted() -> None:
    table = table_of(busy())
    table.advance(120)
    assert (table.deletions, table.count) == (0, 200)


@pytest.mark.parametrize("release", [OVS_2_17, OVS_3_3])
def test_busy_flows_whose_counters_are_read_late_are_deleted_and_come_back(release: Release) -> None:
    table = table_of(busy(), release=release)
    table.read_counters_late(np.arange(200), 11, 18)
    table.advance(120)
    lifetime = 200 * 120 / table.deletions
    assert 10 < lifetime < 30
    assert table.count > 190


def test_an_entry_lives_for_max_idle_after_its_last_packet_and_one_sweep() -> None:
    table = table_of(busy(), settings=Settings(max_idle_s=5.0))
    table.advance(20)
    table.end(np.arange(200))
    table.advance(24.4)
    assert table.count == 200
    table.advance(26.7)
    assert table.count == 0


def test_flows_that_rest_for_longer_than_max_idle_are_deleted_once_a_rest() -> None:
    table = table_of(checkpoints(20.0, 13.0))
    table.advance(330)
    assert 1500 < table.deletions < 2200


def test_a_new_entry_was_never_used_until_its_counter_is_read() -> None:
    table = table_of(busy(), settings=Settings(counter_read_s=8.0))
    table.advance(0.4)
    assert used(table).count("never") > 150
    table.advance(9.0)
    assert used(table).count("never") == 0


def test_old_releases_print_the_age_of_a_new_entry() -> None:
    table = table_of(busy(), release=OVS_2_17, settings=Settings(counter_read_s=8.0))
    table.advance(0.4)
    assert "never" not in used(table)


def test_entries_that_the_rnic_loses_come_back_with_new_counters() -> None:
    table = table_of(busy())
    table.advance(5)
    before = table.seen_packets.copy()
    table.lose(np.arange(50))
    assert table.count == 150
    table.advance(6.5)
    assert table.count == 200
    assert (table.seen_packets[:50] < before[:50]).all()
    assert (table.seen_packets[50:] > before[50:]).all()


def test_above_twice_the_flow_limit_all_flows_are_deleted() -> None:
    above, twice = (table_of(busy(), flows=flows, settings=Settings(flow_limit=1000, counter_read_s=0.05)) for flows in (1_500, 2_500))
    above.advance(1.0)
    twice.advance(1.0)
    # Above the limit only flows that have been idle for 100 ms are deleted.
    assert (above.deletions, twice.deletions) == (0, 2_500)


def test_slow_deletions_leave_aged_entries_behind() -> None:
    table = table_of(busy(), settings=Settings(deletion_s=0.1))
    table.advance(5)
    table.end(np.arange(100))
    table.advance(18)
    assert 120 < table.count < 185
    table.advance(40)
    assert table.count == 100


def test_a_slow_sweep_lowers_the_flow_limit() -> None:
    table = table_of(busy(), settings=Settings(deletion_s=0.1))
    table.end(np.arange(100))
    table.advance(15)
    assert table.settings.flow_limit < 30_000


def test_lines_have_the_form_of_a_dump() -> None:
    ends = Ends("ens1f0_3", 7, "192.168.7.1", "192.168.20.9", 100)
    line = flow_text.egress(ends, Shape(source_bits=24), "6a3af6e1-0d0c-4c7b-9d6f-000000000001", "offloaded:yes, dp:tc")
    table = FlowTable(1)
    table.add([line], busy(1000.0, 1014), 0, is_egress=True, installed=True)
    table.advance(3.0)
    text = table.dump()[0].decode()
    assert re.fullmatch(
        r"ufid:6a3af6e1-0d0c-4c7b-9d6f-000000000001, skb_priority\(0/0\),.*in_port\(ens1f0_3\),packet_type\(ns=0/0,id=0/0\),"
        r"eth\(src=[\w:]+,dst=[\w:]+\),eth_type\(0x0800\),ipv4\(src=10\.100\.0\.0/255\.255\.255\.0,dst=[\d.]+,proto=17,tos=0/0x3,ttl=0/0,frag=no\),"
        r"udp\(src=0/0,dst=0/0\), packets:\d+, bytes:\d+, used:\d\.\d{3}s, offloaded:yes, dp:tc, "
        r"actions:set\(tunnel\(tun_id=0x64,dst=192\.168\.20\.9,ttl=64,tp_dst=4789,flags\(key\)\)\),vxlan_sys_4789",
        text,
    )


def test_masks_differ_from_each_other() -> None:
    ends = Ends("p", 7, "192.168.7.1", "192.168.20.9", 100)
    # The values replaced, what is left of a match is its mask.
    masks = {re.sub(rb"=[\w.:]+(?=[/,)])", b"", flow_text.egress(ends, shape, "0", "dp:tc").head) for shape in flow_text.shapes(90)}
    assert len(flow_text.shapes(90)) == 90
    assert len(masks) == 90
