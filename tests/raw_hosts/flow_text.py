"""Lines of `dpctl/dump-flows -m --names`, cut into what stays and what changes.

The order of the fields and their forms are those of lib/odp-util.c (odp_flow_format) and lib/dpctl.c (format_dpif_flow); the counters
those of lib/dpif.c (dpif_flow_stats_format), with `offloaded:` and `dp:` of dpif_flow_attrs.
"""

from __future__ import annotations

import ipaddress
import random
from dataclasses import dataclass

# What TC's offload prints although it does not match it: wildcarded metadata comes first, as `value/0`.
METADATA = "skb_priority(0/0),skb_mark(0/0),ct_state(0/0),ct_zone(0/0),ct_mark(0/0),ct_label(0/0),recirc_id(0),dp_hash(0/0),"
SOFTWARE_METADATA = "recirc_id(0),"


@dataclass(frozen=True)
class Shape:
    """Which bits a flow matches in addition to its MAC addresses and ports: one shape is one mask."""

    source_bits: int = 0
    destination_bits: int = 32
    protocol: int | None = 17
    tos_mask: int = 0x3
    source_port_mask: int = 0
    destination_port_mask: int = 0
    exact_source_mac: bool = True


def shapes(count: int) -> list[Shape]:
    """Different masks, as policies of different tenants make them: prefixes of 8 to 32 bits, with and without ports."""
    made: list[Shape] = []
    for ports in ((0, 0), (0, 0xFFFF), (0xFFFF, 0xFFFF), (0xFF00, 0xFFFF)):
        for source in (0, 32, 24, 16, 28, 20):
            for destination in (32, 24, 28, 20, 16):
                made.append(Shape(source, destination, 17, 0x3 if ports[1] else 0, *ports))
    return made[:count]


@dataclass(frozen=True)
class Line:
    """One flow: the text before `packets:` and behind `used:`."""

    head: bytes
    tail: bytes


def ufid(source: random.Random) -> str:
    """A flow's identity as format_odp_flow_ufid prints it."""
    digits = f"{source.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def mac(number: int) -> str:
    """A locally administered MAC address."""
    text = f"{0x020000000000 + number:012x}"
    return ":".join(text[i : i + 2] for i in range(0, 12, 2))


def _prefix(address: str, bits: int) -> str:
    network = ipaddress.ip_network(f"{address}/{bits}", strict=False)
    return address if bits == 32 else f"{network.network_address}/{network.netmask}"


def _port(number: int, mask: int) -> str:
    return f"{number}" if mask == 0xFFFF else f"{number & mask:#x}/{mask:#x}" if mask else "0/0"


def _ipv4(source: str, destination: str, shape: Shape) -> str:
    protocol = "0/0" if shape.protocol is None else str(shape.protocol)
    tos = f"0/{shape.tos_mask:#x}"
    ends = f"src={_prefix(source, shape.source_bits)},dst={_prefix(destination, shape.destination_bits)}"
    return f"ipv4({ends},proto={protocol},tos={tos},ttl=0/0,frag=no)"


def _ports(shape: Shape, source: int, destination: int) -> str:
    if shape.protocol is None:
        return ""
    return f",udp(src={_port(source, shape.source_port_mask)},dst={_port(destination, shape.destination_port_mask)})"


@dataclass(frozen=True)
class Ends:
    """Who talks to whom: a container of this host and one behind another host's tunnel endpoint."""

    representor: str
    number: int
    own_endpoint: str
    peer_endpoint: str
    network: int

    @property
    def inner(self) -> tuple[str, str]:
        """Addresses of the container here and of the one there; every flow has its own pair."""
        return (
            f"10.{self.network % 200}.{self.number // 250 % 250}.{self.number % 250 + 1}",
            f"10.{self.network % 200}.{100 + self.number // 250 % 150}.{self.number % 250 + 1}",
        )


def egress(ends: Ends, shape: Shape, identity: str, placed: str) -> Line:
    """A flow from a representor into a VXLAN tunnel. `placed` is `offloaded:yes, dp:tc` or `dp:ovs`."""
    here, there = ends.inner
    in_tc = "dp:tc" in placed
    match = (
        f"{METADATA if in_tc else SOFTWARE_METADATA}in_port({ends.representor}),packet_type(ns=0/0,id=0/0),"
        f"eth(src={mac(ends.number)},dst={mac(ends.number + 500_000)}),eth_type(0x0800),"
        f"{_ipv4(here, there, shape)}{_ports(shape, 49152 + ends.number % 16000, 4791)}"
    )
    actions = f"set(tunnel(tun_id={ends.network:#x},dst={ends.peer_endpoint},ttl=64,tp_dst=4789,flags(key))),vxlan_sys_4789"
    return Line(f"ufid:{identity}, {match}, packets:".encode(), f", {placed}, actions:{actions}".encode())


def ingress(ends: Ends, shape: Shape, identity: str, placed: str, option: str = "") -> Line:
    """A flow out of a tunnel to a representor."""
    here, there = ends.inner
    in_tc = "dp:tc" in placed
    port = "genev_sys_6081" if option else "vxlan_sys_4789"
    tunnel = f"tunnel(tun_id={ends.network:#x},src={ends.peer_endpoint},dst={ends.own_endpoint},ttl=0/0,tp_dst=4789{option},flags(+key)),"
    match = (
        f"{tunnel}{METADATA if in_tc else SOFTWARE_METADATA}in_port({port}),packet_type(ns=0/0,id=0/0),"
        f"eth(src={mac(ends.number + 500_000)},dst={mac(ends.number)}),eth_type(0x0800),"
        f"{_ipv4(there, here, shape)}{_ports(shape, 49152 + ends.number % 16000, 4791)}"
    )
    return Line(f"ufid:{identity}, {match}, packets:".encode(), f", {placed}, actions:{ends.representor}".encode())
