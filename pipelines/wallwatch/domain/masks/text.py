"""From header bits back to the text of a match, as `dpctl/add-flow` takes it."""

from __future__ import annotations

from wallwatch.domain.masks.dump import Flow
from wallwatch.domain.masks.fields import known
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.masks.values import show


class Unwritable(ValueError):
    """The match has fields that can only be copied from a dump, not written: unknown ones, and options of Geneve headers."""


def match_text(space: HeaderSpace, value: int, mask: int) -> str:
    """The match of these bits.

    Raises
    ------
    Unwritable

    Examples
    --------
    >>> from wallwatch.domain.masks.grammar import MatchParser
    >>> space = HeaderSpace()
    >>> match_text(space, *MatchParser(space).parse("in_port(p1),eth_type(0x0800),ipv4(src=10.0.0.0/8,frag=no)"))
    'in_port(p1),eth(),eth_type(0x0800),ipv4(src=10.0.0.0/255.0.0.0,frag=no)'
    """
    names = {number: name for name, number in space.ports.items()}
    tree: dict[str, object] = {}
    for path in sorted(space.offsets, key=_rank):
        bits = space.field_of(mask, path)
        if bits == 0:
            continue
        content = space.field_of(value, path)
        kind = known(path)
        if path == "in_port":
            tree[path] = _port(names[content])
        elif path == "tunnel":
            outer = tree.setdefault(path, {})
            if not space.field_of(mask, "tunnel.ttl") and isinstance(outer, dict):
                outer["ttl"] = "0/0"  # Open vSwitch rejects a tunnel without a time to live
        elif kind is None:
            raise Unwritable(f"{path} cannot be written")
        else:
            *groups, name = path.split(".")
            inner: dict[str, object] = tree
            for group in groups:
                inner = inner.setdefault(group, {})  # type: ignore[assignment]  # groups hold groups
            inner[name] = f"{content:#06x}" if name == "eth_type" and bits == 0xFFFF else show(content, bits, kind)
    if "eth_type" in tree and "eth" not in tree and space.field_of(value & mask, "packet_type.ns") == 0:
        # Without it Open vSwitch takes the flow for one of packets without Ethernet header.
        at = list(tree).index("eth_type")
        tree = dict([*list(tree.items())[:at], ("eth", {}), *list(tree.items())[at:]])
    return _joined(tree, top=True)


def text_of(flow: Flow, space: HeaderSpace) -> str:
    """The flow's match as it was read, or as text if it was created."""
    return flow.match or match_text(space, flow.value, flow.mask)


_ORDER = (
    "skb",
    "tunnel",
    "ct_state",
    "ct_zone",
    "ct_mark",
    "ct_label",
    "ct_tuple",
    "recirc_id",
    "dp_hash",
    "in_port",
    "packet_type",
    "eth.",
)
_LATER = ("eth_type", "vlan", "encap", "mpls", "ip", "arp", "tcp.", "udp", "sctp", "icmp", "nd", "tcp_flags")
"""The order in which Open vSwitch prints the fields of a match."""


def _rank(path: str) -> int:
    """Fields of one group stay together, in the order in which they were first seen."""
    return next((at for at, start in enumerate((*_ORDER, *_LATER)) if path.startswith(start)), len(_ORDER) + len(_LATER))


def _joined(tree: dict[str, object], top: bool = False) -> str:
    parts = []
    for name, content in tree.items():
        if isinstance(content, dict):
            parts.append(f"{name}({_joined(content)})")
        elif top or _is_bracketed(name, content):
            parts.append(f"{name}({content})")
        else:
            parts.append(f"{name}={content}")
    return ",".join(parts)


def _is_bracketed(name: str, content: object) -> bool:
    """`eth_type` inside `encap`, and the flags of a tunnel, but not those of group policy."""
    return name == "eth_type" or (name == "flags" and str(content)[:1] in "+-")


def _port(name: str) -> str:
    return f'"{name}"' if any(letter in name for letter in "(),") else name
