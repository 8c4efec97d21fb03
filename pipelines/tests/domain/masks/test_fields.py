"""Widths of header fields, as the standards of the protocols have them: a mask of all ones is as wide as the field."""

import pytest

from wallwatch.domain.masks.fields import FIELDS

STANDARDS: dict[str, dict[str, int]] = {
    "Ethernet, IEEE 802.3": {"eth.src": 48, "eth.dst": 48, "eth_type": 16},
    "VLAN tag, IEEE 802.1Q": {"vlan.vid": 12, "vlan.pcp": 3, "vlan.cfi": 1},
    "IPv4, RFC 791": {"ipv4.src": 32, "ipv4.dst": 32, "ipv4.proto": 8, "ipv4.tos": 8, "ipv4.ttl": 8},
    "IPv6, RFC 8200": {"ipv6.src": 128, "ipv6.dst": 128, "ipv6.label": 20, "ipv6.proto": 8, "ipv6.tclass": 8, "ipv6.hlimit": 8},
    "TCP, RFC 9293, with its reserved bits": {"tcp.src": 16, "tcp.dst": 16},
    "UDP, RFC 768": {"udp.src": 16, "udp.dst": 16},
    "SCTP, RFC 9260": {"sctp.src": 16, "sctp.dst": 16},
    "ICMP, RFC 792": {"icmp.type": 8, "icmp.code": 8},
    "ICMPv6, RFC 4443": {"icmpv6.type": 8, "icmpv6.code": 8},
    "ARP for IPv4 over Ethernet, RFC 826": {"arp.sip": 32, "arp.tip": 32, "arp.sha": 48, "arp.tha": 48, "arp.op": 16},
    "neighbour discovery, RFC 4861": {
        "nd.target": 128, "nd.sll": 48, "nd.tll": 48, "nd_ext.nd_reserved": 32, "nd_ext.nd_options_type": 8,
    },
    "MPLS, RFC 3032": {"mpls.label": 20, "mpls.tc": 3, "mpls.bos": 1, "mpls.ttl": 8, "mpls.lse0": 32, "mpls.lse1": 32, "mpls.lse2": 32},
    "NSH, RFC 8300: the path has 24 bits, which Open vSwitch keeps in 32": {
        "nsh.flags": 8, "nsh.ttl": 8, "nsh.mdtype": 8, "nsh.np": 8, "nsh.spi": 32, "nsh.si": 8,
        "nsh.c1": 32, "nsh.c2": 32, "nsh.c3": 32, "nsh.c4": 32,
    },
    "VXLAN group policy, draft-smith-vxlan-group-policy": {"tunnel.vxlan.gbp.id": 16, "tunnel.vxlan.gbp.flags": 8},
    "GTP-U, 3GPP TS 29.281": {"tunnel.gtpu.flags": 8, "tunnel.gtpu.msgtype": 8},
    "a tunnel's outer headers; its key is a 64-bit word": {
        "tunnel.tun_id": 64, "tunnel.src": 32, "tunnel.dst": 32, "tunnel.ipv6_src": 128, "tunnel.ipv6_dst": 128,
        "tunnel.tos": 8, "tunnel.ttl": 8, "tunnel.tp_src": 16, "tunnel.tp_dst": 16,
    },
    "connection tracking, linux/openvswitch.h": {
        "ct_state": 8, "ct_zone": 16, "ct_mark": 32, "ct_label": 128,
        "ct_tuple4.src": 32, "ct_tuple4.dst": 32, "ct_tuple4.proto": 8, "ct_tuple4.tp_src": 16, "ct_tuple4.tp_dst": 16,
        "ct_tuple6.src": 128, "ct_tuple6.dst": 128, "ct_tuple6.proto": 8, "ct_tuple6.tp_src": 16, "ct_tuple6.tp_dst": 16,
    },
    "metadata of the datapath, linux/openvswitch.h": {"skb_priority": 32, "skb_mark": 32, "recirc_id": 32, "dp_hash": 32},
}  # fmt: skip


@pytest.mark.parametrize("standard", STANDARDS)
def test_a_field_is_as_wide_as_in_its_protocol(standard: str) -> None:
    assert {name: FIELDS[name].width for name in STANDARDS[standard]} == STANDARDS[standard]


def test_each_flag_of_a_field_has_a_bit_of_its_own() -> None:
    for name, field in FIELDS.items():
        assert len(set(field.flags)) == len(field.flags) <= field.width, name
