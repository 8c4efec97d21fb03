"""Byte-exact RoCEv2 frames and capture files, written apart from the analyser that reads them."""

from __future__ import annotations

import ipaddress
import struct
from binascii import crc32
from dataclasses import dataclass, replace

SEND_ONLY, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, READ_REQUEST = 0x04, 0x06, 0x07, 0x08, 0x0C
RESPONSE_FIRST, RESPONSE_MIDDLE, RESPONSE_LAST, RESPONSE_ONLY, ACKNOWLEDGE, CNP = 0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x81
ACK, RNR_NAK, NAK_SEQUENCE = 0x1F, 0x2E, 0x60
CE = 3


@dataclass(frozen=True)
class Packet:
    """One RoCEv2 packet; `extension` holds what follows the BTH (RETH, AETH, ...)."""

    source: str = "10.0.0.1"
    destination: str = "10.0.0.2"
    qpn: int = 0x11
    psn: int = 0
    opcode: int = WRITE_MIDDLE
    payload: bytes = b"payload!"
    extension: bytes = b""
    tos: int = 2
    ttl: int = 64
    udp_source: int = 50_000
    udp_destination: int = 4791
    migreq: int = 1
    icrc_error: int = 0
    ip_options: bytes = b""
    ip_id: int = 0
    ipv6_extensions: int = 0
    """Destination options headers of eight bytes."""

    def bth(self) -> bytes:
        pad = -len(self.payload) % 4
        flags = self.migreq << 6 | pad << 4
        return struct.pack("!BBHII", self.opcode, flags, 0xFFFF, self.qpn & 0xFFFFFF, self.psn & 0xFFFFFF)

    def ip(self) -> bytes:
        """The IP packet, ICRC included."""
        body = self.bth() + self.extension + self.payload + bytes(-len(self.payload) % 4)
        length = 8 + len(body) + 4
        header = self._header(length)
        udp = struct.pack("!HHHH", self.udp_source, self.udp_destination, length, 0)
        changeless = bytearray(header)
        if header[0] >> 4 == 4:
            for place in (1, 8, 10, 11):
                changeless[place] = 0xFF
        else:
            changeless[0] |= 0x0F
            for place in (1, 2, 3, 7):
                changeless[place] = 0xFF
        fixed_body = bytearray(body)
        fixed_body[4] = 0xFF
        check = crc32(b"\xff" * 8 + bytes(changeless) + udp[:6] + b"\xff\xff" + bytes(fixed_body)) ^ self.icrc_error
        return header + udp + body + struct.pack("<I", check)

    def _header(self, length: int) -> bytes:
        source, destination = ipaddress.ip_address(self.source), ipaddress.ip_address(self.destination)
        if source.version == 6:
            word = 6 << 28 | self.tos << 20 | 0x12345
            chain = b"".join(
                bytes([60 if place < self.ipv6_extensions - 1 else 17, 0, 1, 4, 0, 0, 0, 0]) for place in range(self.ipv6_extensions)
            )
            following = 60 if chain else 17
            return struct.pack("!IHBB", word, len(chain) + length, following, self.ttl) + source.packed + destination.packed + chain
        words = 5 + len(self.ip_options) // 4
        whole = words * 4 + length
        start = struct.pack("!BBHHHBBH", 0x40 | words, self.tos, whole, self.ip_id, 0x4000, self.ttl, 17, 0)
        header = start + source.packed + destination.packed + self.ip_options
        total = sum(struct.unpack(f"!{len(header) // 2}H", header))
        while total >> 16:
            total = (total & 0xFFFF) + (total >> 16)
        return header[:10] + struct.pack("!H", ~total & 0xFFFF) + header[12:]

    def frame(self) -> bytes:
        return ethernet(self.ip())


def ethernet(packet: bytes, vlans: tuple[int, ...] = (), addresses: bytes = bytes(range(12))) -> bytes:
    """An Ethernet frame; all VLAN tags but the innermost are 802.1ad."""
    tags = b"".join(struct.pack("!HH", 0x88A8 if place < len(vlans) - 1 else 0x8100, tag) for place, tag in enumerate(vlans))
    return addresses + tags + struct.pack("!H", 0x86DD if packet[0] >> 4 == 6 else 0x0800) + packet


def sll(packet: bytes) -> bytes:
    return struct.pack("!HHH8sH", 0, 1, 6, bytes(8), 0x0800) + packet


def sll2(packet: bytes) -> bytes:
    return struct.pack("!HHIHBB8s", 0x0800, 0, 1, 1, 0, 6, bytes(8)) + packet


def udp_ipv4(payload: bytes, port: int, tos: int = 0) -> bytes:
    length = 8 + len(payload)
    header = struct.pack("!BBHHHBBH", 0x45, tos, 20 + length, 7, 0, 64, 17, 0) + bytes([192, 0, 2, 1, 192, 0, 2, 2])
    return header + struct.pack("!HHHH", 40_000, port, length, 0) + payload


def vxlan(frame: bytes, network: int = 42, tos: int = 0) -> bytes:
    return ethernet(udp_ipv4(struct.pack("!II", 0x08000000, network << 8) + frame, 4789, tos))


def geneve(frame: bytes, network: int = 42, options: bytes = bytes(8)) -> bytes:
    return ethernet(udp_ipv4(struct.pack("!BBHI", len(options) // 4, 0, 0x6558, network << 8) + options + frame, 6081))


@dataclass(frozen=True)
class Timed:
    """A frame with its time; `wire` is its length before it was cut."""

    time_ns: int
    data: bytes
    wire: int | None = None
    interface: int = 0


def pcap(frames: list[Timed], *, order: str = "<", nanoseconds: bool = True, link_type: int = 1, snap: int = 262_144) -> bytes:
    unit = 1 if nanoseconds else 1000
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    parts = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link_type)]
    for one in frames:
        kept = one.data[:snap]
        seconds, rest = divmod(one.time_ns, 10**9)
        parts.append(struct.pack(order + "IIII", seconds, rest // unit, len(kept), one.wire or len(one.data)) + kept)
    return b"".join(parts)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def section(order: str = "<") -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(order: str = "<", *, resolution: int | None = 9, offset: int | None = None, link_type: int = 1) -> bytes:
    options = b""
    if resolution is not None:
        options += struct.pack(order + "HHB3x", 9, 1, resolution)
    if offset is not None:
        options += struct.pack(order + "HHq", 14, 8, offset)
    return block(1, struct.pack(order + "HHI", link_type, 0, 0) + options + struct.pack(order + "HH", 0, 0), order)


def enhanced(one: Timed, ticks: int, order: str = "<") -> bytes:
    head = struct.pack(order + "IIIII", one.interface, ticks >> 32, ticks & 0xFFFFFFFF, len(one.data), one.wire or len(one.data))
    return block(6, head + one.data, order)


def pcapng(frames: list[Timed], order: str = "<") -> bytes:
    """One section, one interface with nanoseconds."""
    return section(order) + interface(order) + b"".join(enhanced(one, one.time_ns, order) for one in frames)


class Conversation:
    """Builds a capture of one connection: `data` goes from requester to responder, answers come back."""

    def __init__(
        self, first_psn: int = 0, requester: str = "10.0.0.1", responder: str = "10.0.0.2", qpns: tuple[int, int] = (0x11, 0x22)
    ) -> None:
        self.first, self.qpns = first_psn, qpns
        self.frames: list[Timed] = []
        self.now = 1_700_000_000_000_000_000
        self._forward = Packet(source=requester, destination=responder, qpn=qpns[0])
        self._back = Packet(source=responder, destination=requester, qpn=qpns[1], payload=b"")

    def put(self, packet: Packet, after_ns: int) -> int:
        """Append a packet `after_ns` after the last one; returns its frame number."""
        self.now += after_ns
        self.frames.append(Timed(self.now, packet.frame()))
        return len(self.frames)

    def data(self, number: int, after_ns: int = 1000, **changes: object) -> int:
        return self.put(replace(self._forward, psn=self.first + number, **changes), after_ns)  # type: ignore[arg-type]

    def answer(self, number: int, syndrome: int = ACK, after_ns: int = 1000, **changes: object) -> int:
        extension = struct.pack("!I", syndrome << 24)
        packet = replace(self._back, psn=self.first + number, opcode=ACKNOWLEDGE, extension=extension)
        return self.put(replace(packet, **changes), after_ns)  # type: ignore[arg-type]

    def nack(self, number: int, after_ns: int = 2000) -> int:
        return self.answer(number, NAK_SEQUENCE, after_ns)

    def cnp(self, after_ns: int = 1000) -> int:
        return self.put(replace(self._back, opcode=CNP, psn=0, payload=bytes(16), migreq=0), after_ns)

    def read(self, number: int, length: int, after_ns: int = 1000) -> int:
        extension = struct.pack("!QII", 0x1000, 1, length)
        return self.put(replace(self._forward, psn=self.first + number, opcode=READ_REQUEST, extension=extension, payload=b""), after_ns)

    def response(self, number: int, opcode: int = RESPONSE_MIDDLE, after_ns: int = 1000, size: int = 256) -> int:
        extension = b"" if opcode == RESPONSE_MIDDLE else struct.pack("!I", ACK << 24)
        return self.put(replace(self._back, psn=self.first + number, opcode=opcode, extension=extension, payload=bytes(size)), after_ns)
