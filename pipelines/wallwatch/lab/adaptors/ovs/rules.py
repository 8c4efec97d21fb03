"""OpenFlow rules that give the datapath a wanted number of masks, and the packets that use each of them.

Table 0 finds a packet's number by its destination address and keeps it in a register, which is not part of a datapath flow. The last
table has one rule per number, each with another mask over source address and UDP port. So the datapath needs one mask per number.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

SOURCE = "172.21.85.173"
"""Its bits alternate often enough that a prefix is not an address of zeros."""
UDP_SOURCE = 49152
"""Of the first port's packets; each further port has the next number, as its containers would have connections of their own."""
UDP_DESTINATION = 4791
"""RoCE v2."""
MOST_MASKS = 32 * 17
"""Prefixes of the source address, 1 to 32 bits, times those of the UDP port, 0 to 16 bits."""
CONNTRACK_ZONE = 1
_ETHERNET_BYTES = 14
_ADDRESSES_PER_MASK = 254


@dataclass(frozen=True)
class Plan:
    """What the switch has to do with packets."""

    masks: int
    flows_per_mask: int
    tables: int
    """OpenFlow tables that a packet passes between the first and the last."""
    conntrack: bool
    output: int
    """OpenFlow port."""


def rules(plan: Plan) -> Iterator[str]:
    """Rules in the syntax of ovs-ofctl.

    >>> for rule in rules(Plan(masks=1, flows_per_mask=1, tables=1, conntrack=False, output=9)): print(rule)
    table=0,priority=0,actions=drop
    table=1,priority=0,actions=goto_table:2
    table=0,priority=10,ip,nw_dst=10.0.0.1,actions=load:1->NXM_NX_REG0[],goto_table:1
    table=2,priority=10,udp,reg0=1,nw_src=128.0.0.0/1,actions=output:9
    """
    last = plan.tables + 1
    yield "table=0,priority=0,actions=drop"
    for table in range(1, last):
        yield f"table={table},priority=0,actions=goto_table:{table + 1}"
    # A connection that is already in the tracker passes `commit` unchanged.
    follow = f"ct(commit,zone={CONNTRACK_ZONE},table=1)" if plan.conntrack else "goto_table:1"
    for mask in range(plan.masks):
        for flow in range(plan.flows_per_mask):
            yield f"table=0,priority=10,ip,nw_dst={address(mask, flow)},actions=load:{mask + 1}->NXM_NX_REG0[],{follow}"
        yield f"table={last},priority=10,udp,reg0={mask + 1},{_match(mask)},actions=output:{plan.output}"


def packets(plan: Plan, length: int, ports: int) -> list[tuple[int, bytes]]:
    """One Ethernet frame of `length` bytes per flow and port, with the port's index."""
    return [
        (port, frame(address(mask, flow), length, UDP_SOURCE + port))
        for port in range(ports)
        for mask in range(plan.masks)
        for flow in range(plan.flows_per_mask)
    ]


def address(mask: int, flow: int) -> str:
    """Destination of a flow."""
    if not (0 <= mask < MOST_MASKS and 0 <= flow < _ADDRESSES_PER_MASK):
        raise ValueError(f"there are addresses for {MOST_MASKS} masks with {_ADDRESSES_PER_MASK} flows each, not for {mask}/{flow}")
    return f"10.{mask // 256}.{mask % 256}.{flow + 1}"


def _match(mask: int) -> str:
    source_bits, port_bits = mask % 32 + 1, mask // 32
    source = int.from_bytes(socket.inet_aton(SOURCE)) >> (32 - source_bits) << (32 - source_bits)
    match = f"nw_src={socket.inet_ntoa(source.to_bytes(4))}/{source_bits}"
    if port_bits:
        port_mask = 0xFFFF >> (16 - port_bits) << (16 - port_bits)
        match += f",tp_dst={UDP_DESTINATION & port_mask:#x}/{port_mask:#x}"
    return match


def frame(destination: str, length: int, udp_source: int) -> bytes:
    """An Ethernet frame of `length` bytes, from 42."""
    ethernet = bytes.fromhex("505400000001 505400000002 0800")
    size = length - _ETHERNET_BYTES

    def header(checksum: int) -> bytes:
        return struct.pack(
            ">BBHHHBBH4s4s", 0x45, 0, size, 0, 0, 64, socket.IPPROTO_UDP, checksum, socket.inet_aton(SOURCE), socket.inet_aton(destination)
        )

    udp = struct.pack(">HHHH", udp_source, UDP_DESTINATION, size - 20, 0)  # no checksum, which UDP over IPv4 allows
    return (ethernet + header(_checksum(header(0))) + udp).ljust(length, b"\0")


def _checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071); the connection tracker refuses packets without it."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - int(total)
