"""The header fields of a datapath flow: widths, notations and names of flags, as Open vSwitch prints them (its `lib/odp-util.c`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Notation = Literal["number", "hex", "mac", "ipv4", "ipv6", "frag", "flags"]


@dataclass(frozen=True, slots=True)
class Field:
    """One header field: its width in bits and how its values are written."""

    width: int
    notation: Notation = "number"
    flags: tuple[str, ...] = ()
    """Names of the bits, lowest first."""


CT_STATE = ("new", "est", "rel", "rpl", "inv", "trk", "snat", "dnat")
TCP_FLAGS = ("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr", "ns", "[200]", "[400]", "[800]")
TUNNEL_FLAGS = ("df", "csum", "key", "oam", "crit")
FRAGMENTS = {"no": 0, "first": 1, "later": 2}


def _group(name: str, **widths: int) -> dict[str, Field]:
    return {f"{name}.{key}": Field(width) for key, width in widths.items()}


_MAC, _IPV4, _IPV6 = Field(48, "mac"), Field(32, "ipv4"), Field(128, "ipv6")

FIELDS: dict[str, Field] = {
    **{name: Field(32, "hex") for name in ("skb_priority", "skb_mark", "recirc_id", "dp_hash", "ct_mark")},
    "ct_state": Field(8, "flags", CT_STATE),
    "ct_zone": Field(16),
    "ct_label": Field(128, "hex"),
    **{f"ct_tuple4.{end}": _IPV4 for end in ("src", "dst")},
    **{f"ct_tuple6.{end}": _IPV6 for end in ("src", "dst")},
    **_group("ct_tuple4", proto=8, tp_src=16, tp_dst=16),
    **_group("ct_tuple6", proto=8, tp_src=16, tp_dst=16),
    "tunnel.tun_id": Field(64, "hex"),
    **_group("tunnel", tos=8, ttl=8, tp_src=16, tp_dst=16),
    **{f"tunnel.{end}": _IPV4 for end in ("src", "dst")},
    **{f"tunnel.{end}": _IPV6 for end in ("ipv6_src", "ipv6_dst")},
    "tunnel.flags": Field(8, "flags", TUNNEL_FLAGS),
    **_group("tunnel.vxlan.gbp", id=16, flags=8),
    **_group("tunnel.erspan", ver=8, idx=32, sid=16, dir=8, hwid=8),
    **_group("tunnel.gtpu", flags=8, msgtype=8),
    **_group("packet_type", ns=16, id=16),
    **{f"eth.{end}": _MAC for end in ("src", "dst")},
    "eth_type": Field(16, "hex"),
    **_group("vlan", vid=12, pcp=3, cfi=1),
    **{f"ipv4.{end}": _IPV4 for end in ("src", "dst")},
    **_group("ipv4", proto=8, tos=8, ttl=8),
    "ipv4.frag": Field(8, "frag"),
    **{f"ipv6.{end}": _IPV6 for end in ("src", "dst")},
    **_group("ipv6", label=20, proto=8, tclass=8, hlimit=8),
    "ipv6.frag": Field(8, "frag"),
    **_group("ipv6_exthdrs", hdrs=16),
    **{f"{layer}.{end}": Field(16) for layer in ("tcp", "udp", "sctp") for end in ("src", "dst")},
    "tcp_flags": Field(16, "flags", TCP_FLAGS),
    **_group("icmp", type=8, code=8),
    **_group("icmpv6", type=8, code=8),
    **{f"arp.{end}": _IPV4 for end in ("sip", "tip")},
    **{f"arp.{end}": _MAC for end in ("sha", "tha")},
    "arp.op": Field(16),
    "nd.target": _IPV6,
    **{f"nd.{end}": _MAC for end in ("sll", "tll")},
    **_group("nd_ext", nd_reserved=32, nd_options_type=8),
    **_group("mpls", label=20, tc=3, ttl=8, bos=1),
    **{f"mpls.lse{depth}": Field(32) for depth in range(3)},
    **_group("nsh", flags=8, ttl=8, mdtype=8, np=8, spi=32, si=8, c1=32, c2=32, c3=32, c4=32),
}

GROUPS = frozenset(path[:at] for path in FIELDS for at, letter in enumerate(path) if letter == ".") | {"encap"}
"""Names that hold other fields: `ipv4`, `tunnel.vxlan`."""

UNCOUNTED = frozenset({"in_port", "packet_type.ns", "packet_type.id", "recirc_id", "tunnel"})
"""Bits that are not part of a mask's length: the eSwitch matches the port, the kind of packet and the table separately. So does the
collector count."""

VNI_BITS = 24
"""Bits of a tunnel id that a VXLAN header has; a fully matched tunnel id counts this many."""


def known(path: str) -> Field | None:
    """The field of a path; headers behind VLAN tags, `encap.ipv4.src`, are as those before them.

    >>> known("encap.encap.ipv4.src").width
    32
    """
    while path.startswith("encap."):
        path = path.removeprefix("encap.")
    return FIELDS.get(path)


def is_group(path: str) -> bool:
    """Whether a name holds other fields.

    >>> is_group("encap.ipv6"), is_group("eth_type")
    (True, False)
    """
    while path.startswith("encap."):
        path = path.removeprefix("encap.")
    return path in GROUPS
