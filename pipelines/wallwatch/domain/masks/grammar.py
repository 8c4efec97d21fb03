"""The grammar of a flow's match: `recirc_id(0),in_port(p1),eth_type(0x0800),ipv4(src=10.0.0.0/255.0.0.0,proto=17)`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from wallwatch.domain.masks.fields import Field, is_group, known
from wallwatch.domain.masks.space import PRESENT, TUNNEL, HeaderSpace
from wallwatch.domain.masks.values import Malformed, number, parse

_SIMPLE = re.compile(r'[\w.]+\([^()"{]*\)(?:,\s*|$)')
_USUAL = re.compile(r'([\w.]+\((?:[^()"{},]|,(?! )|\([^()"{},]*\))*\))(?:,(?! |$)|$)')
"""A field of a match with at most one more level of brackets and no spaces: all that Open vSwitch prints for most flows."""
_PLAIN = re.compile(r'(\w+)\(([^(){}" ,]+(?:,[^(){}" ,]+)*)\)')
USUAL_GROUPS = frozenset({"eth", "ipv4", "ipv6", "udp", "tcp"})
_OPTIONS = re.compile(r"(?:\{[^{}]*\})+")
_OPTION = re.compile(r"\{[^{}]*\}")
_LEFT_OUT = re.compile(r"\{\w+=\w+/0(?:x0+)?(?:,\w+=\w+/0(?:x0+)?)*(?:,\w+/0(?:x0+)?)?\}")
"""An option of a Geneve header that is not looked at, as a dump with -m prints it: every field with a mask of zero."""
MAX_DEPTH = 8
"""Deeper than any real match: double VLAN tags nest four."""


@dataclass(frozen=True, slots=True)
class ParsedItem:
    """One top-level field of a match at its place in the header space."""

    value: int
    mask: int
    head: str
    """Its name; no match has two of a name."""


@dataclass(slots=True)
class MatchParser:
    """Reads matches into a header space. The parts of matches repeat from line to line and are read once."""

    space: HeaderSpace
    seen: dict[str, ParsedItem] = field(default_factory=dict)
    leaves: dict[tuple[str, str], list[tuple[str, int, int]]] = field(default_factory=dict)
    runs: dict[str, tuple[int, int, list[str]]] = field(default_factory=dict)

    def parse(self, text: str) -> tuple[int, int]:
        """Value and mask of a whole match.

        Raises
        ------
        Malformed
            When a known field has a value that cannot be read, or appears twice. Unknown fields are kept as they are written.

        Examples
        --------
        >>> parser = MatchParser(HeaderSpace())
        >>> value, mask = parser.parse("in_port(p1),eth_type(0x0800),ipv4(src=10.0.0.0/255.0.0.0,dst=0.0.0.0/0.0.0.0)")
        >>> parser.space.header(value, mask)
        {'in_port': 'p1', 'eth_type': '0x800', 'ipv4.src': '10.0.0.0/255.0.0.0'}
        """
        at = text.find(",in_port(")
        first = self.runs.get(text[:at]) if at > 0 else None
        if first is None and at > 0:
            try:
                first = self.runs[text[:at]] = self._run(text[:at])
            except Malformed:  # it is inside brackets or quotes, or the error is found again below
                at = -1
        if first is None:
            value, mask, heads = self._run(text)
        else:
            value, mask, heads = self._run(text[at + 1 :])
            value, mask, heads = value | first[0], mask | first[1], first[2] + heads
        if len(set(heads)) < len(heads):
            raise Malformed(f"{next(head for head in heads if heads.count(head) > 1)!r} appears twice")
        return value, mask

    def _run(self, text: str) -> tuple[int, int, list[str]]:
        """Value, mask and names of some fields of a match. Those ahead of the port are the same in many lines."""
        value = mask = 0
        heads: list[str] = []
        items = _USUAL.findall(text)
        if sum(map(len, items)) + len(items) - 1 != len(text):  # something between them was not read
            items = split(text)
        for item in items:
            part = self.seen.get(item)
            if part is None:
                part = self.seen[item] = self._part(item)
            heads.append(part.head)
            if part.mask:
                value |= part.value
                mask |= part.mask
        return value, mask, heads

    def _part(self, item: str) -> ParsedItem:
        value = mask = 0
        paths: list[str] = []
        for path, one_value, one_mask in self._usual(item) or self._item(item, "", 0):
            if path in paths:
                raise Malformed(f"{path!r} appears twice")
            paths.append(path)
            value |= one_value
            mask |= one_mask
        return ParsedItem(value, mask, item.partition("(")[0])

    def _usual(self, item: str) -> list[tuple[str, int, int]]:
        """A group of plain fields, most of which have been seen in other lines; nothing for any other."""
        plain = _PLAIN.fullmatch(item)
        if plain is None or plain[1] not in USUAL_GROUPS:
            return []
        name, inner = plain.groups()
        found: list[tuple[str, int, int]] = []
        for part in inner.split(","):
            found += self.leaves.get((name, part)) or self._item(part, name, 1)
        return found

    def _item(self, item: str, parent: str, depth: int) -> list[tuple[str, int, int]]:
        if depth > MAX_DEPTH:
            raise Malformed(f"{parent!r} nests too deep")
        equals, opening = item.find("="), _first(item, "({")
        if equals >= 0 and (opening < 0 or equals < opening):
            found = self.leaves.get((parent, item))
            if found is None:
                path = f"{parent}.{item[:equals]}"
                kind = known(path)
                found = [self._scalar(path, item[equals + 1 :], kind)] if kind else self._unknown(path, item, item[equals + 1 :])
                self.leaves[parent, item] = found
            return found
        if opening < 0 or not item.endswith(")"):
            if parent and opening < 0:
                return self._unknown(f"{parent}.{item}", item, item)
            raise Malformed(f"{item[:40]!r} is not a field")
        name, inner = item[:opening].strip(), item[opening + 1 : -1]
        path = f"{parent}.{name}" if parent else name
        if path == "in_port":
            return self._port(inner)
        kind = known(path)
        if kind is not None:
            return [self._scalar(path, inner, kind)]
        if path.endswith("tunnel.geneve"):
            return [one for options in split(inner) for option in _options(options) for one in self._option(option)]
        if not is_group(path):
            return self._unknown(path, f"{path}({inner})", inner)
        found = [one for part in split(inner) for one in self._item(part, path, depth + 1)]
        return [*found, self._tunnel(found)] if path == "tunnel" else found

    def _scalar(self, path: str, text: str, kind: Field) -> tuple[str, int, int]:
        try:
            value, mask = parse(text.strip(), kind)
        except Malformed as problem:
            raise Malformed(f"{path}: {problem}") from None
        return path, *self.space.put(path, value, mask, kind)

    def _port(self, inner: str) -> list[tuple[str, int, int]]:
        if inner.startswith('"') and inner.endswith('"') and len(inner) > 1:
            name = inner[1:-1]
        else:
            name, slash, mask = inner.partition("/")
            if slash and mask.strip("0x") == "":
                return [("in_port", 0, 0)]
            if slash:
                return self._unknown("in_port", f"in_port({inner})", inner)
        if not name:
            raise Malformed("in_port: the port has no name")
        return [("in_port", *self.space.port(name))]

    def _tunnel(self, fields: list[tuple[str, int, int]]) -> tuple[str, int, int]:
        """That a packet came out of a tunnel is a part of the match; so is the version of its outer addresses."""
        looked_at = {path for path, _, mask in fields if mask}
        family = (
            (1, 3) if looked_at & {"tunnel.src", "tunnel.dst"} else (3, 3) if looked_at & {"tunnel.ipv6_src", "tunnel.ipv6_dst"} else (1, 1)
        )
        return "tunnel", *self.space.put("tunnel", *family, TUNNEL)

    def _option(self, option: str) -> list[tuple[str, int, int]]:
        """`{class=0x102,type=0x80,len=4,0xa/0x7fffffff}`: one option of a Geneve header."""
        if _LEFT_OUT.fullmatch(option):
            return []
        read = re.fullmatch(r"\{class=(\w+)(?:/0xffff)?,type=(\w+)(?:/0xff)?,len=(\d+)(?:,(\w+)(?:/(\w+))?)?\}", option.strip())
        if read is None:
            return self._unknown(f"tunnel.geneve.{option}", f"tunnel.geneve({option})", option)
        try:
            of, kind, length = (number(text) for text in read.groups()[:3])
        except ValueError as problem:
            raise Malformed(f"tunnel.geneve: {problem} is not a number") from None
        if length > 124:
            raise Malformed(f"tunnel.geneve: an option of {length} bytes")
        path = f"tunnel.geneve[{of:#x},{kind:#x},{length}]"
        found = [(f"{path}.present", *self.space.put(f"{path}.present", 1, 1, PRESENT))]
        if length and read[4]:
            data = read[4] if read[5] is None else f"{read[4]}/{read[5]}"
            found.append(self._scalar(path, data, Field(8 * length)))
        return found

    def _unknown(self, path: str, text: str, value: str) -> list[tuple[str, int, int]]:
        """Kept as it is written; only a mask of zero is understood, whatever the field."""
        if value.partition("/")[2].strip("0x:.") == "" and "/" in value and "(" not in value:
            return [(path, 0, 0)]
        return [(path, *self.space.opaque(text if text.startswith(path) else f"{path}: {text}"))]


def split(text: str) -> list[str]:
    """The parts of a list at its commas outside brackets and quotes.

    >>> split('a(1),b(c(2),d=3), in_port("p,(1)")')
    ['a(1)', 'b(c(2),d=3)', 'in_port("p,(1)")']

    Raises
    ------
    Malformed
        When brackets or quotes do not close.
    """
    parts: list[str] = []
    at = 0
    if "(" not in text and "{" not in text and '"' not in text and ")" not in text and "}" not in text:
        parts = [part.strip() for part in text.split(",")] if text else []
        at = len(text)
    while at < len(text):
        simple = _SIMPLE.match(text, at)
        if simple:
            parts.append(simple[0].rstrip(", "))
            at = simple.end()
            continue
        end = _end(text, at)
        parts.append(text[at:end].strip())
        at = end + 1
        while at < len(text) and text[at] == " ":
            at += 1
    if text.rstrip().endswith(",") or "" in parts:
        raise Malformed("a comma next to nothing")
    return parts


def _options(text: str) -> list[str]:
    """The options of a Geneve header, which have no commas between them; text that is none is left as it is.

    >>> _options("{class=0x102,len=4,0xa}{class=0x103,len=0}")
    ['{class=0x102,len=4,0xa}', '{class=0x103,len=0}']
    """
    text = text.strip()
    return _OPTION.findall(text) if _OPTIONS.fullmatch(text) else [text]


def _end(text: str, at: int) -> int:
    """Where the part that begins at `at` ends."""
    closing: list[str] = []
    quoted = False
    for index in range(at, len(text)):
        letter = text[index]
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in "({":
            closing.append(")" if letter == "(" else "}")
        elif letter in ")}":
            if not closing or closing.pop() != letter:
                raise Malformed(f"an unmatched closing bracket, before {text[index : index + 20]!r}")
        elif letter == "," and not closing:
            return index
    if closing or quoted:
        raise Malformed(f"an unclosed bracket or quote in {text[at : at + 40]!r}")
    return len(text)


def _first(text: str, letters: str) -> int:
    """Where the first of two letters is; -1 where neither is."""
    first, second = text.find(letters[0]), text.find(letters[1])
    return second if first < 0 else first if second < 0 else min(first, second)
