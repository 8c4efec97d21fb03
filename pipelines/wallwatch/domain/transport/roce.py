"""RoCEv2 packets of a block as columns: BTH, RETH, AETH, and whether the ICRC holds.

Headers: InfiniBand Architecture Specification, volume 1, section 9.2 and annex A17.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wallwatch.domain.transport.frames import Bytes, FrameBlock, Integers
from wallwatch.domain.transport.headers import Flags, Udp, datagrams, link_layer, tunnelled, u16, u24, u32
from wallwatch.domain.transport.icrc import check_icrc

ROCE_PORT = 4791
_BTH_BYTES, _ICRC_BYTES = 12, 4
_MOST_TUNNELS = 2
OPCODES = frozenset({*range(0x18), *range(0x20, 0x2C), *range(0x40, 0x58), 0x64, 0x65, 0x81})
_OPCODE_ARRAY = np.array(sorted(OPCODES))
READ_REQUEST, CNP = 0x0C, 0x81
WITH_INVALIDATE = (0x16, 0x17)
"""SEND last and only that also invalidate a key of the receiver: usual with storage protocols."""
_WITH_AETH = np.array([0x0D, 0x0F, 0x10, 0x11, 0x12])
_WITH_RETH = np.array([0x06, 0x0A, 0x0B, READ_REQUEST])
_FOUR_BYTES = np.array([0x03, 0x05, 0x09, 0x0B, *WITH_INVALIDATE])
"""With an immediate value or a key before the data."""


@dataclass(frozen=True)
class Packets:
    """RoCE packets in the order of their frames; every column has shape (n,) unless stated.

    Attributes:
        frame: index in the block.
        time_ns: nanoseconds since 1970.
        key: fixed-size bytes that identify tunnel, source, destination and destination QP.
        source_port: UDP source port.
        migreq: bit MigReq of the BTH.
        congested: marked Congestion Experienced, in the outer or inner IP header.
        syndrome: AETH syndrome, -1 without an AETH or where it is cut off.
        dma_length: length of a READ request's RETH in bytes, -1 where absent.
        payload: bytes of data, without padding.
        icrc: 1 right, 0 wrong, -1 unknown because the packet is cut.
        ip_id: identification of the IPv4 header, 0 for IPv6.
    """

    frame: Integers
    time_ns: Integers
    key: list[bytes]
    tunnel: Integers
    opcode: Integers
    psn: Integers
    qpn: Integers
    source_port: Integers
    migreq: Flags
    congested: Flags
    syndrome: Integers
    dma_length: Integers
    payload: Integers
    icrc: Integers
    ip_id: Integers


def decode(block: FrameBlock, port: int | None = ROCE_PORT) -> Packets:
    """All RoCE packets of a block, tunnelled ones included.

    Args:
        block: frames of one capture.
        port: UDP destination port of RoCE; None accepts any port whose payload looks like a BTH.
    """
    # Room behind the last frame, so that headers may be gathered before their length is checked.
    data = np.concatenate([block.data, np.zeros(96, dtype=np.uint8)])
    layer = link_layer(block)
    pieces: list[Udp] = []
    for _ in range(_MOST_TUNNELS + 1):
        udp = datagrams(data, layer)
        pieces.append(_roce_only(data, udp, port))
        layer = tunnelled(data, udp)
        if not len(layer.frame):
            break
    parts = [piece for piece in pieces if len(piece.ip)] or pieces[:1]
    if len(parts) == 1:
        return _columns(data, block, parts[0])
    joined = _joined(parts)
    return _columns(data, block, joined.where(np.argsort(joined.layer.frame, kind="stable")))


def _joined(parts: list[Udp]) -> Udp:
    layer = type(parts[0].layer)(
        *(np.concatenate([getattr(p.layer, name) for p in parts]) for name in type(parts[0].layer).__dataclass_fields__)
    )
    return Udp(layer, *(np.concatenate([getattr(p, name) for p in parts]) for name in ("ip", "ip_end", "version", "port")))


def _roce_only(data: Bytes, udp: Udp, port: int | None) -> Udp:
    bth = udp.layer.at + 8
    keep = (bth + _BTH_BYTES <= udp.layer.end) & (bth + _BTH_BYTES + _ICRC_BYTES <= udp.ip_end)
    if port is not None:
        return udp.where(keep & (udp.port == port))
    udp = udp.where(keep)
    bth = udp.layer.at + 8
    plausible = np.isin(data[bth], _OPCODE_ARRAY) & (data[bth + 1] & 0x0F == 0)
    return udp.where(plausible & ~np.isin(udp.port, (4789, 6081)))


def _columns(data: Bytes, block: FrameBlock, udp: Udp) -> Packets:
    bth = udp.layer.at + 8
    extension = bth + _BTH_BYTES
    opcode = data[bth].astype(np.int64)
    pad = (data[bth + 1] >> 4 & 3).astype(np.int64)
    rest = udp.ip_end - extension - _ICRC_BYTES - pad
    rest -= np.where(np.isin(opcode, _WITH_AETH) | np.isin(opcode, _FOUR_BYTES), 4, 0) + np.where(np.isin(opcode, _WITH_RETH), 16, 0)
    acknowledges = np.isin(opcode, _WITH_AETH) & (extension + 4 <= udp.layer.end)
    requests = (opcode == READ_REQUEST) & (extension + 16 <= udp.layer.end)
    return Packets(
        frame=udp.layer.frame,
        time_ns=block.time_ns[udp.layer.frame],
        key=_keys(data, udp, bth),
        tunnel=udp.layer.tunnel,
        opcode=opcode,
        psn=u24(data, bth + 9),
        qpn=u24(data, bth + 5),
        source_port=u16(data, udp.layer.at),
        migreq=data[bth + 1] & 0x40 != 0,
        congested=udp.layer.congested,
        syndrome=np.where(acknowledges, data[np.minimum(extension, len(data) - 1)].astype(np.int64), -1),
        dma_length=np.where(requests, u32(data, np.minimum(extension + 12, len(data) - 4)), -1),
        payload=np.maximum(rest, 0),
        icrc=check_icrc(data, udp, bth),
        ip_id=np.where(udp.version == 4, u16(data, udp.ip + 4), 0),
    )


KEY_BYTES = 40
_V4_PREFIX = np.array([0] * 10 + [255, 255], dtype=np.uint8)


def _keys(data: Bytes, udp: Udp, bth: Integers) -> list[bytes]:
    """Tunnel (4 bytes), source (16), destination (16), destination QP (3), and a 1 that keeps trailing zeros."""
    keys = np.zeros((len(bth), KEY_BYTES), dtype=np.uint8)
    for byte in range(4):
        keys[:, byte] = udp.layer.tunnel >> (24 - 8 * byte) & 255
    four, six = np.flatnonzero(udp.version == 4), np.flatnonzero(udp.version == 6)
    keys[four, 4:16] = _V4_PREFIX
    keys[four, 20:32] = _V4_PREFIX
    ip4, ip6 = udp.ip[four, None], udp.ip[six, None]
    keys[four, 16:20] = data[ip4 + np.arange(12, 16)]
    keys[four, 32:36] = data[ip4 + np.arange(16, 20)]
    keys[six, 4:36] = data[ip6 + np.arange(8, 40)]
    keys[:, 36:39] = data[bth[:, None] + np.arange(5, 8)]
    keys[:, 39] = 1
    found: list[bytes] = keys.view(f"S{KEY_BYTES}").ravel().tolist()
    return found
