"""The invariant CRC of RoCEv2 (annex A17.3.3): what must hold whatever routers change on the way.

CRC-32 with Ethernet's polynomial over eight bytes of ones (in place of the LRH), the IP header with its changeable fields
set to ones, UDP with its checksum set to ones, the BTH with byte 4 set to ones, and the rest up to the ICRC itself, which
is stored little-endian.
"""

from __future__ import annotations

import zlib

import numpy as np

from wallwatch.domain.transport.frames import Bytes, Integers
from wallwatch.domain.transport.headers import Udp, u16

RIGHT, WRONG, UNKNOWN = 1, 0, -1
_SEED = zlib.crc32(b"\xff" * 8)
_ROCE_PORT = 4791
_IPV4_CHANGEABLE = (1, 8, 10, 11)
_IPV6_CHANGEABLE = (1, 2, 3, 7)


def check_icrc(data: Bytes, udp: Udp, bth: Integers) -> Integers:
    """Shape (n,): `RIGHT`, `WRONG`, or `UNKNOWN` where bytes of the packet are missing.

    A packet whose IP length exceeds the frame on the wire can't be checked either.
    """
    verdict = np.full(len(bth), UNKNOWN, dtype=np.int64)
    whole = np.flatnonzero(udp.ip_end <= udp.layer.end)
    if not len(whole):
        return verdict
    masked = data.copy()
    at = udp.layer.at[whole]
    _mask(masked, udp.ip[whole], udp.version[whole])
    masked[at + 6] = 255
    masked[at + 7] = 255
    masked[bth[whole] + 4] = 255
    stored_at = udp.ip_end[whole] - 4
    stored = u16(data, stored_at + 2)
    stored = (stored & 255) << 24 | (stored >> 8) << 16 | data[stored_at + 1].astype(np.int64) << 8 | data[stored_at]
    right = _computed(masked, udp.ip[whole], stored_at) == stored
    moved = np.flatnonzero(~right & (udp.port[whole] != _ROCE_PORT))
    if len(moved):
        # A mirror that rewrites the port leaves the ICRC of the original: Lumina does so to spread packets over cores.
        masked[at[moved] + 2], masked[at[moved] + 3] = _ROCE_PORT >> 8, _ROCE_PORT & 255
        right[moved] = _computed(masked, udp.ip[whole][moved], stored_at[moved]) == stored[moved]
    verdict[whole] = np.where(right, RIGHT, WRONG)
    return verdict


def _computed(masked: Bytes, starts: Integers, ends: Integers) -> Integers:
    view, crc32, seed = masked.data, zlib.crc32, _SEED
    return np.array([crc32(view[a:b], seed) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)], dtype=np.int64)


def _mask(masked: Bytes, ip: Integers, version: Integers) -> None:
    four, six = ip[version == 4], ip[version == 6]
    for byte in _IPV4_CHANGEABLE:
        masked[four + byte] = 255
    for byte in _IPV6_CHANGEABLE:
        masked[six + byte] = 255
    masked[six] |= 0x0F  # the upper half of the traffic class; the version stays
