"""TC flower rules that only fill the RNIC's tables: no real packet has their destination (TEST-NET-2, RFC 5737)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from wallwatch.lab.adaptors.perftest.changes import Change
from wallwatch.lab.adaptors.perftest.operations import Command

PREFERENCE = 49151
"""Of all rules of the lab: the highest a kernel does not give by itself, so none of Open vSwitch's is moved."""
_SOURCES = ipaddress.ip_network("203.0.113.0/24")
_DESTINATIONS = ipaddress.ip_network("198.51.100.0/24")
_FIRST_PORT = 10000
_LENGTHS = 32
"""Prefixes of the source address, 1 to 32 bits; with those of the destination, 24 to 32 bits, these are 288 masks."""


def qdisc(netdev: str) -> Change:
    """The ingress queue that rules belong to."""
    return Change(f"qdisc {netdev}", _tc("qdisc", "add", "dev", netdev, "ingress"), _tc("qdisc", "del", "dev", netdev, "ingress"))


def shown(netdev: str) -> Command:
    """Asks for the ingress queue."""
    return _tc("qdisc", "show", "dev", netdev, "ingress")


def rules(netdev: str, masks: int, flows_per_mask: int) -> Iterator[Change]:
    """One change per rule; each mask is another one."""
    for mask in range(masks):
        for flow in range(flows_per_mask):
            yield _rule(netdev, mask, flow)


def _rule(netdev: str, mask: int, flow: int) -> Change:
    source = ipaddress.ip_network((int(_SOURCES.network_address) | 1, mask % _LENGTHS + 1), strict=False)
    destination = ipaddress.ip_network((int(_DESTINATIONS.network_address) | 1, 24 + mask // _LENGTHS), strict=False)
    handle = f"{mask * 1000 + flow + 1:#x}"
    place = ("dev", netdev, "ingress", "protocol", "ip", "pref", str(PREFERENCE), "handle", handle, "flower")
    match = ("skip_sw", "ip_proto", "udp", "src_ip", str(source), "dst_ip", str(destination), "dst_port", str(_FIRST_PORT + flow))
    return Change(f"rule {netdev} {mask} {flow}", _tc("filter", "add", *place, *match, "action", "drop"), _tc("filter", "del", *place))


def _tc(*words: str) -> Command:
    return Command(("tc", *words))
