"""Headers below UDP, all frames of a block at once: link layers, VLAN stacks, IPv4, IPv6, VXLAN, Geneve.

Each step takes the frames that are still of interest with the place of their next header, and hands on those that
continue. No step reads past the captured bytes of a frame.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallwatch.domain.transport.frames import Bytes, FrameBlock, Integers

ETHERNET, RAW_IP, LINUX_SLL, IPV4_ONLY, IPV6_ONLY, LINUX_SLL2 = 1, 101, 113, 228, 229, 276
_RAW = (RAW_IP, IPV4_ONLY, IPV6_ONLY, 12, 14)
"""Raw IP; 12 and 14 are what BSD systems call it in files of their own."""
_LOOPBACKS = (0, 108)
"""Four bytes with the address family come before the IP header, whose version says as much."""
_IPV4, _IPV6, _TRANSPARENT_ETHERNET = 0x0800, 0x86DD, 0x6558
_VLAN_TYPES = np.array([0x8100, 0x88A8, 0x9100, 0x9200])
_FRAGMENT, _AUTHENTICATION = 44, 51
_EXTENSIONS = np.array([0, 43, _FRAGMENT, _AUTHENTICATION, 60, 135])
"""IPv6 headers before UDP: hop-by-hop, routing, fragment, authentication, destination options, mobility."""
_MOST_VLANS, _MOST_EXTENSIONS = 8, 8
_UDP = 17
VXLAN_PORT, GENEVE_PORT = 4789, 6081

Flags = NDArray[np.bool_]


def u16(data: Bytes, at: Integers) -> Integers:
    """Big-endian 16-bit numbers at these places."""
    return data[at].astype(np.int64) << 8 | data[at + 1]


def u24(data: Bytes, at: Integers) -> Integers:
    """Big-endian 24-bit numbers at these places."""
    return u16(data, at) << 8 | data[at + 2]


def u32(data: Bytes, at: Integers) -> Integers:
    """Big-endian 32-bit numbers at these places."""
    return u16(data, at) << 16 | u16(data, at + 2)


@dataclass(frozen=True)
class Layer:
    """Frames whose next header is at `at`.

    Attributes:
        frame: index in the block.
        at: place of the next header in the block's bytes.
        end: where the captured bytes of the frame end.
        wire_end: where they would end had nothing been cut.
        kind: EtherType of the next header.
        tunnel: 0 outside any tunnel, else 1 + network identifier, plus 2^24 for Geneve.
        congested: an outer IP header is marked Congestion Experienced.
    """

    frame: Integers
    at: Integers
    end: Integers
    wire_end: Integers
    kind: Integers
    tunnel: Integers
    congested: Flags

    def where(self, keep: Flags | Integers) -> Layer:
        return Layer(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Udp:
    """UDP datagrams; `layer.at` is the place of the UDP header.

    Attributes:
        ip: place of the IP header.
        ip_end: where the IP packet ends by its own length field.
        version: 4 or 6.
        port: destination port.
    """

    layer: Layer
    ip: Integers
    ip_end: Integers
    version: Integers
    port: Integers

    def where(self, keep: Flags | Integers) -> Udp:
        return Udp(self.layer.where(keep), self.ip[keep], self.ip_end[keep], self.version[keep], self.port[keep])


def link_layer(block: FrameBlock) -> Layer:
    """The frames whose link type is understood, VLAN tags skipped."""
    count, data, link = len(block), block.data, block.link_type
    at, kind = block.start.copy(), np.zeros(count, dtype=np.int64)
    end = block.start + block.length
    for number, size, place in ((ETHERNET, 14, 12), (LINUX_SLL, 16, 14), (LINUX_SLL2, 20, 0)):
        these = (link == number) & (block.length >= size)
        kind[these] = u16(data, block.start[these] + place)
        at[these] += size
    loopback = np.isin(link, _LOOPBACKS) & (block.length >= 5)
    at[loopback] += 4
    raw = loopback | np.isin(link, _RAW) & (block.length >= 1)
    kind[raw] = np.where(data[at[raw]] >> 4 == 6, _IPV6, _IPV4)
    layer = Layer(
        np.arange(count), at, end, block.start + block.wire_length, kind, np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.bool_)
    )
    return _skip_vlans(data, layer)


def _skip_vlans(data: Bytes, layer: Layer) -> Layer:
    at, kind = layer.at.copy(), layer.kind.copy()
    for _ in range(_MOST_VLANS):
        tagged = np.flatnonzero(np.isin(kind, _VLAN_TYPES) & (at + 4 <= layer.end))
        if not len(tagged):
            break
        kind[tagged] = u16(data, at[tagged] + 2)
        at[tagged] += 4
    return replace(layer, at=at, kind=kind)


def datagrams(data: Bytes, layer: Layer) -> Udp:
    """The UDP datagrams among IPv4 and IPv6 packets; fragments are left out."""
    pieces = [_ipv4(data, layer), _ipv6(data, layer)]
    present = [piece for piece in pieces if len(piece.ip)]
    if len(present) < 2:
        return present[0] if present else pieces[0]
    first, second = present
    order = np.argsort(np.concatenate([first.layer.frame, second.layer.frame]), kind="stable")

    def merged(one: Any, other: Any) -> Any:
        return np.concatenate([one, other])[order]

    both = Layer(*(merged(getattr(first.layer, name), getattr(second.layer, name)) for name in Layer.__dataclass_fields__))
    return Udp(both, *(merged(getattr(first, name), getattr(second, name)) for name in ("ip", "ip_end", "version", "port")))


def _ipv4(data: Bytes, layer: Layer) -> Udp:
    layer = layer.where((layer.kind == _IPV4) & (layer.at + 20 <= layer.end))
    first = data[layer.at].astype(np.int64)
    size = (first & 15) * 4
    whole = u16(data, layer.at + 2)
    fragment = u16(data, layer.at + 6) & 0x3FFF  # offset, and whether more follow
    udp = data[layer.at + 9] == _UDP
    keep = (first >> 4 == 4) & (size >= 20) & (whole >= size + 8) & (fragment == 0) & udp & (layer.at + size + 8 <= layer.end)
    congested = layer.congested | (data[layer.at + 1] & 3 == 3)
    return _udp(data, replace(layer, at=layer.at + size, congested=congested), layer.at, layer.at + whole, 4).where(keep)


def _ipv6(data: Bytes, layer: Layer) -> Udp:
    layer = layer.where((layer.kind == _IPV6) & (layer.at + 40 <= layer.end))
    start = layer.at
    following = data[start + 6].astype(np.int64)
    at = start + 40
    whole = np.ones(len(start), dtype=np.bool_)
    for _ in range(_MOST_EXTENSIONS):
        more = np.flatnonzero(np.isin(following, _EXTENSIONS) & (at + 8 <= layer.end))
        if not len(more):
            break
        kind, here = following[more], at[more]
        size = (data[here + 1].astype(np.int64) + 1) * 8  # in units of 8 bytes, but for these two
        size = np.where(kind == _AUTHENTICATION, (data[here + 1].astype(np.int64) + 2) * 4, size)
        fragment = kind == _FRAGMENT
        size[fragment] = 8
        whole[more[fragment]] &= u16(data, here[fragment] + 2) & 0xFFF9 == 0  # the only one: offset 0, none follows
        following[more], at[more] = data[here], here + size
    ip_end = start + 40 + u16(data, start + 4)
    keep = whole & (data[start] >> 4 == 6) & (following == _UDP) & (at + 8 <= layer.end) & (at + 8 <= ip_end)
    congested = layer.congested | (data[start + 1] >> 4 & 3 == 3)
    return _udp(data, replace(layer, at=at, congested=congested), start, ip_end, 6).where(keep)


def _udp(data: Bytes, layer: Layer, ip: Integers, ip_end: Integers, version: int) -> Udp:
    # Places past the frame are clipped here and dropped by the caller's `where`.
    port = u16(data, np.minimum(layer.at + 2, len(data) - 2))
    return Udp(layer, ip, ip_end, np.full(len(ip), version, dtype=np.int64), port)


def tunnelled(data: Bytes, udp: Udp) -> Layer:
    """What VXLAN and Geneve datagrams carry, VLAN tags skipped."""
    udp = udp.where(np.isin(udp.port, (VXLAN_PORT, GENEVE_PORT)) & (udp.layer.at + 16 <= udp.layer.end))
    layer, header = udp.layer, udp.layer.at + 8
    geneve = udp.port == GENEVE_PORT
    options = np.where(geneve, (data[header].astype(np.int64) & 0x3F) * 4, 0)
    kind = np.where(geneve, u16(data, header + 2), _TRANSPARENT_ETHERNET)
    tunnel = 1 + u24(data, header + 4) + np.where(geneve, 1 << 24, 0)
    inner = replace(layer, at=header + 8 + options, kind=kind, tunnel=tunnel, wire_end=np.minimum(layer.wire_end, udp.ip_end))
    framed = kind == _TRANSPARENT_ETHERNET
    inner = inner.where(~framed | (inner.at + 14 <= inner.end))
    framed = inner.kind == _TRANSPARENT_ETHERNET
    at, kind = inner.at.copy(), inner.kind.copy()
    kind[framed] = u16(data, at[framed] + 12)
    at[framed] += 14
    return _skip_vlans(data, replace(inner, at=at, kind=kind))
