"""The header space: the position of each bit of a packet's header. It grows with the fields that rules match."""

from __future__ import annotations

from dataclasses import dataclass, field

from wallwatch.domain.masks.fields import UNCOUNTED, VNI_BITS, Field, known
from wallwatch.domain.masks.values import show

PORT = Field(32)
TUNNEL = Field(2)
"""Whether a packet came out of a tunnel (1), and out of one over IPv6 (2)."""
PRESENT = Field(1)


@dataclass(slots=True)
class HeaderSpace:
    """Places of fields, shared by all rule sets that are compared.

    An unknown field is one bit, "the packet matches this text": the meaning of the text is not assumed, so of two such texts
    a packet may meet one, both, or none. That keeps a proof sound whatever the field is.
    """

    offsets: dict[str, int] = field(default_factory=dict)
    fields: dict[str, Field] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    """Path of the bit -> text of an unknown field."""
    width: int = 0
    counted: tuple[int, int] = (-1, 0)
    """The width for which they were found, and the bits that count for the length of a mask."""

    def place(self, path: str, kind: Field) -> int:
        """The offset of a field's lowest bit."""
        at = self.offsets.get(path)
        if at is None:
            at = self.offsets[path] = self.width
            self.fields[path] = kind
            self.width += kind.width
        return at

    def put(self, path: str, value: int, mask: int, kind: Field) -> tuple[int, int]:
        """Value and mask of one field at its place among all; wildcards take no place."""
        if mask == 0:
            return 0, 0
        at = self.place(path, kind)
        return value << at, mask << at

    def port(self, name: str) -> tuple[int, int]:
        """A port by name or number; names are only compared."""
        return self.put("in_port", self.ports.setdefault(name, len(self.ports) + 1), (1 << PORT.width) - 1, PORT)

    def opaque(self, text: str) -> tuple[int, int]:
        """The bit of an unknown field."""
        path = f"?{text}"
        self.unknown[path] = text
        return self.put(path, 1, 1, PRESENT)

    def field_of(self, word: int, path: str) -> int:
        """The bits of one field out of a whole word."""
        at = self.offsets.get(path)
        return 0 if at is None else word >> at & ((1 << self.fields[path].width) - 1)

    def mask_of(self, path: str) -> int:
        """All bits of a field, at their place; 0 where no rule looks at it."""
        at = self.offsets.get(path)
        return 0 if at is None else ((1 << self.fields[path].width) - 1) << at

    def length_bits(self, mask: int) -> int:
        """The length of a mask in bits, `LM` of the paper's section 4.3."""
        tunnel_id = self.field_of(mask, "tunnel.tun_id")
        counted = (mask & self._counted()).bit_count()
        return counted + (VNI_BITS if tunnel_id == (1 << 64) - 1 else tunnel_id.bit_count())

    def _counted(self) -> int:
        if self.counted[0] != self.width:
            left_out = UNCOUNTED | self.unknown.keys() | {"tunnel.tun_id"}
            bits = sum(self.mask_of(path) for path, kind in self.fields.items() if path not in left_out and kind is not PRESENT)
            self.counted = (self.width, bits)
        return self.counted[1]

    def header(self, value: int, mask: int) -> dict[str, str]:
        """The fields that `mask` fixes, as text by path, in the order of a dump.

        >>> space = HeaderSpace()
        >>> value, mask = space.put("ipv4.dst", 0x0A000000, 0xFF000000, known("ipv4.dst"))
        >>> space.header(value, mask)
        {'ipv4.dst': '10.0.0.0/255.0.0.0'}
        """
        names = {number: name for name, number in self.ports.items()}
        found: dict[str, str] = {}
        for path in sorted(self.offsets, key=_rank):
            bits = self.field_of(mask, path)
            if bits == 0:
                continue
            content = self.field_of(value, path)
            kind = self.fields[path]
            if path == "in_port":
                found[path] = names.get(content, "a port that no rule matches")
            elif path in self.unknown:
                found[self.unknown[path]] = "met" if content else "not met"
            elif path == "tunnel":
                found[path] = ("none" if not content & 1 else "over IPv6" if content & 2 else "over IPv4") if bits == 3 else "any"
            elif kind is PRESENT:
                found[path] = "there" if content else "absent"
            else:
                found[path] = show(content, bits, known(path) or kind)
        return found


_LAYERS = (
    "in_port",
    "recirc_id",
    "tunnel",
    "ct_",
    "eth",
    "vlan",
    "encap",
    "mpls",
    "arp",
    "ipv4",
    "ipv6",
    "tcp",
    "udp",
    "sctp",
    "icmp",
    "nd",
)


def _rank(path: str) -> tuple[int, str]:
    return next((at for at, layer in enumerate(_LAYERS) if path.startswith(layer)), len(_LAYERS)), path
