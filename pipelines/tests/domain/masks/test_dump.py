"""Dumps of Open vSwitch as bits of the header space. Forms of releases 2.17 to 3.7; the first ones were printed by a real 3.1."""

import random

import pytest

from wallwatch.domain.masks.dump import read_dump
from wallwatch.domain.masks.space import HeaderSpace

UFID = "ufid:6ad69613-cf21-4efc-aac3-40001d0beb77, "
WILD = "skb_priority(0/0),skb_mark(0/0),ct_state(0/0),ct_zone(0/0),ct_mark(0/0),ct_label(0/0),recirc_id(0),dp_hash(0/0)"
TAIL = ", packets:7, bytes:700, used:1.5s, dp:ovs, actions:2, dp-extra-info:miniflow_bits(4,3)"
NO_TABLE = {"recirc_id": "0x0"}


def header(match: str) -> dict[str, str]:
    space = HeaderSpace()
    dump = read_dump(f"{UFID}{match}{TAIL}", space)
    assert not dump.bad, dump.bad
    return space.header(dump.flows[0].value, dump.flows[0].mask)


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        pytest.param(
            f"{WILD},in_port(1),packet_type(ns=1/0,id=0x800/0),eth(src=02:00:00:00:00:01,dst=00:00:00:00:00:00/01:00:00:00:00:00),eth_type(0x0800),"
            "ipv4(src=10.0.0.0/255.255.0.0,dst=10.0.0.2,proto=17,tos=0/0xfc,ttl=0/0,frag=no),udp(src=0/0,dst=4791)",
            NO_TABLE
            | {
                "in_port": "1",
                "eth.src": "02:00:00:00:00:01",
                "eth.dst": "00:00:00:00:00:00/01:00:00:00:00:00",
                "eth_type": "0x800",
                "ipv4.src": "10.0.0.0/255.255.0.0",
                "ipv4.dst": "10.0.0.2",
                "ipv4.proto": "17",
                "ipv4.tos": "0x0/0xfc",
                "ipv4.frag": "no",
                "udp.dst": "4791",
            },
            id="wildcards are left out and partial masks kept",
        ),
        pytest.param(
            "tunnel(tun_id=0x2a,src=192.0.2.9,dst=192.0.2.1,ttl=0/0,tp_dst=4789,vxlan(gbp(id=5,flags=0x1)),flags(-df+key)),in_port(2)",
            {
                "in_port": "2",
                "tunnel": "over IPv4",
                "tunnel.tun_id": "0x2a",
                "tunnel.src": "192.0.2.9",
                "tunnel.dst": "192.0.2.1",
                "tunnel.tp_dst": "4789",
                "tunnel.vxlan.gbp.id": "5",
                "tunnel.vxlan.gbp.flags": "1",
                "tunnel.flags": "-df+key",
            },
            id="a tunnel with group policy",
        ),
        pytest.param(
            "tunnel(tun_id=0x1,ipv6_dst=2001:db8::1,geneve({class=0x102,type=0x80,len=4,0xa/0x7fffffff}),flags(+key)),in_port(2)",
            {
                "in_port": "2",
                "tunnel": "over IPv6",
                "tunnel.tun_id": "0x1",
                "tunnel.ipv6_dst": "2001:db8::1",
                "tunnel.geneve[0x102,0x80,4].present": "there",
                "tunnel.geneve[0x102,0x80,4]": "0xa/0x7fffffff",
                "tunnel.flags": "+key",
            },
            id="options of a Geneve header",
        ),
        pytest.param(
            "ct_state(0x21/0x23),ct_zone(0x5),ct_mark(0x1/0xf),ct_label(0/0x00ff000000000000000000000000000000),recirc_id(0x3),in_port(1),"
            "ct_tuple4(src=10.0.0.1,dst=10.0.0.2,proto=6,tp_src=1,tp_dst=2/0xfffe),tcp_flags(+syn-ack)",
            {
                "in_port": "1",
                "recirc_id": "0x3",
                "ct_state": "+new-est+trk",
                "ct_zone": "5",
                "ct_mark": "0x1/0xf",
                "ct_label": "0x0/0xff000000000000000000000000000000",
                "ct_tuple4.src": "10.0.0.1",
                "ct_tuple4.dst": "10.0.0.2",
                "ct_tuple4.proto": "6",
                "ct_tuple4.tp_src": "1",
                "ct_tuple4.tp_dst": "0x2/0xfffe",
                "tcp_flags": "+syn-ack",
            },
            id="connection tracking",
        ),
        pytest.param(
            "in_port(1),eth_type(0x88a8),vlan(vid=5,pcp=0/0x0),encap(eth_type(0x8100),vlan(vid=6,pcp=0,cfi=1),encap(eth_type(0x86dd),"
            "ipv6(src=fd00::/ffff::,label=0/0,hlimit=0/0,frag=later),icmpv6(type=135,code=0),nd(target=fe80::1,sll=00:00:00:00:00:00/00:00:00:00:00:00)))",
            {
                "in_port": "1",
                "eth_type": "0x88a8",
                "vlan.vid": "5",
                "encap.eth_type": "0x8100",
                "encap.vlan.vid": "6",
                "encap.vlan.pcp": "0",
                "encap.vlan.cfi": "1",
                "encap.encap.eth_type": "0x86dd",
                "encap.encap.ipv6.src": "fd00::/ffff::",
                "encap.encap.ipv6.frag": "later",
                "encap.encap.icmpv6.type": "135",
                "encap.encap.icmpv6.code": "0",
                "encap.encap.nd.target": "fe80::1",
            },
            id="VLAN tags in VLAN tags",
        ),
        pytest.param(
            "in_port(2),eth_type(0x8847),mpls(label=5/0xfffff,tc=0/0,ttl=0/0x0,bos=1/1)",
            {"in_port": "2", "eth_type": "0x8847", "mpls.label": "5", "mpls.bos": "1"},
            id="labels",
        ),
        pytest.param(
            "in_port(2),eth_type(0x0806),arp(sip=10.0.0.1,tip=10.0.0.0/24,op=1,sha=02:00:00:00:00:01,tha=00:00:00:00:00:00/00:00:00:00:00:00)",
            {
                "in_port": "2",
                "eth_type": "0x806",
                "arp.sip": "10.0.0.1",
                "arp.tip": "10.0.0.0/255.255.255.0",
                "arp.op": "1",
                "arp.sha": "02:00:00:00:00:01",
            },
            id="address resolution",
        ),
        pytest.param('in_port("p(1),x"),eth()', {"in_port": "p(1),x"}, id="a port's name in quotes"),
    ],
)
def test_each_field_has_its_bits(match: str, expected: dict[str, str]) -> None:
    assert dict(sorted(header(match).items())) == dict(sorted(expected.items()))


def test_both_notations_of_flags_are_the_same_bits() -> None:
    assert header("ct_state(0x22/0x23),in_port(1)") == header("ct_state(-new+est+trk),in_port(1)")
    assert header("tcp_flags(syn|ack),in_port(1)") == header("tcp_flags(0x12),in_port(1)")


def test_counters_and_places_are_read() -> None:
    flow = read_dump(f"flow-dump from the main thread:\n\n{UFID}in_port(1),eth_type(0x0800){TAIL}\r\n", HeaderSpace()).flows[0]
    assert (flow.line, flow.packets, flow.bytes, flow.used_s, flow.offloaded, flow.actions) == (3, 7, 700, 1.5, False, "2")
    assert flow.ufid == "6ad69613-cf21-4efc-aac3-40001d0beb77"
    never = read_dump("in_port(1), packets:0, bytes:0, used:never, offloaded:yes, dp:tc, actions:drop", HeaderSpace()).flows[0]
    assert (never.used_s, never.offloaded) == (None, True)


def test_an_unknown_field_is_a_condition_of_its_own() -> None:
    space = HeaderSpace()
    read_dump("in_port(1),novel(5/0x7), actions:2\nin_port(1),novel(4/0x7), actions:3\nin_port(1),novel(0/0), actions:4", space)
    assert sorted(space.unknown.values()) == ["novel(4/0x7)", "novel(5/0x7)"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"{UFID}in_port(1),eth_type(0x0800), packets:1, bytes:1, used:0.1s, offloaded:yes", "no actions"),
        ("in_port(1),eth(src=02:00:00:00:00), actions:2", "not a valid mac"),
        ("in_port(1),ipv4(src=10.0.0.300), actions:2", "not a valid ipv4"),
        ("in_port(1),eth_type(0x10800), actions:2", "more than 16 bits"),
        ("in_port(1),ipv4(src=10.0.0.0/33), actions:2", "longer than the 32"),
        ("in_port(1),ipv4(src=10.0.0.1),ipv4(src=10.0.0.2), actions:2", "twice"),
        ("in_port(1),ipv4(src=10.0.0.1,src=10.0.0.1), actions:2", "twice"),
        ("in_port(1),ct_state(+est+made_up), actions:2", "is not a flag"),
        ("in_port(1),ct_state(+est-est), actions:2", "twice"),
        ("in_port(1),ipv4(src=10.0.0.1, actions:2", "unclosed"),
        ("in_port(1)),eth_type(0x0800), actions:2", "unmatched"),
        ("in_port(1),eth(src=02:00:00:00:00:01,,dst=02:00:00:00:00:02), actions:2", "next to nothing"),
        ("recirc_id(0),,in_port(1), actions:2", "next to nothing"),
        ("ufid:123, in_port(1), actions:2", "32 hexadecimal"),
        ("in_port(1), packets:x, bytes:1, used:0.1s, actions:2", "is not a number"),
        ("in_port(1), packets:1, bytes:1, used:soon, actions:2", "is not a time"),
        ("in_port(1), actions:set(ipv4(ttl=63)", "unclosed"),
        ("hello", "no actions"),
        (", actions:2", "no match"),
    ],
)
def test_a_line_that_cannot_be_read_is_reported_and_the_others_are_read(line: str, reason: str) -> None:
    dump = read_dump(f"in_port(1), actions:2\n{line}\nin_port(2), actions:1", HeaderSpace())
    assert [flow.line for flow in dump.flows] == [1, 3]
    assert [bad.line for bad in dump.bad] == [2]
    assert reason in dump.bad[0].reason


def test_a_line_that_is_cut_before_its_actions_is_no_flow() -> None:
    line = f"{UFID}{WILD},in_port(1),eth_type(0x0800),ipv4(src=10.0.0.0/255.0.0.0,frag=no), packets:7, bytes:700, used:1s, dp:tc, actions:2"
    assert len(read_dump(line, HeaderSpace()).flows) == 1
    for end in range(1, len(line)):
        dump = read_dump(line[:end], HeaderSpace())
        assert (len(dump.flows), len(dump.bad)) == (0, 1), line[:end]


def test_no_line_stops_the_reader() -> None:
    """Whatever a line has become on its way, it is a flow or a bad line."""
    tunnel = "tunnel(tun_id=0x2a,src=192.0.2.9,ttl=0/0,vxlan(gbp(id=5)),geneve({class=0x102,type=0x80,len=4,0xa/0x7f}),flags(-df+key))"
    inner = "eth_type(0x8100),vlan(vid=5,pcp=0/0),encap(eth_type(0x86dd),ipv6(src=fd00::/ffff::,frag=no),tcp(dst=80),tcp_flags(+syn-ack))"
    line = f'{UFID}{tunnel},ct_state(0x21/0x23),in_port("p(1),x"),{inner}{TAIL}'
    assert len(read_dump(line, HeaderSpace()).flows) == 1
    rng = random.Random(3)
    read = 0
    for _ in range(1500):
        letters = list(line)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(letters))
            letters[at : at + rng.randrange(3)] = rng.choice(["", *'(){},/=:0x9a"+-|_ .'])
        dump = read_dump("".join(letters), HeaderSpace())
        assert len(dump.flows) + len(dump.bad) == 1
        read += len(dump.flows)
    assert 100 < read < 1400


def test_the_length_of_a_mask_is_what_the_collector_counts() -> None:
    space = HeaderSpace()
    tunnel = "tunnel(tun_id=0x2a,src=192.0.2.9,dst=192.0.2.1,ttl=0/0,tp_dst=4789,flags(-df+key))"
    match = f"recirc_id(0),packet_type(ns=0,id=0),{tunnel},in_port(p1),eth_type(0x86dd),ipv6(dst=fd00::/ffff::)"
    flow = read_dump(f"{match}, actions:2", space).flows[0]
    assert space.length_bits(flow.mask) == 24 + 32 + 32 + 16 + 2 + 16 + 16


def test_a_bracket_without_a_name_inside_a_group_is_no_field() -> None:
    dump = read_dump(f"{UFID}in_port(1),eth((src)x){TAIL}", HeaderSpace())
    assert [bad.reason for bad in dump.bad] == ["'(src)x' is not a field"]
    assert not dump.flows
