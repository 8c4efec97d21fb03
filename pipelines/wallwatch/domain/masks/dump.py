"""A whole flow dump: the text of `ovs-appctl dpctl/dump-flows -m`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from wallwatch.domain.masks.actions import canonical
from wallwatch.domain.masks.collection import collector_paused
from wallwatch.domain.masks.grammar import MatchParser
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.masks.values import Malformed


class Flow(NamedTuple):
    """One line of a dump: what it matches, as bits of the header space, and what is done."""

    line: int
    """Of the dump, from 1; flows created for a plan have negative ones. Numbers are unique."""
    ufid: str
    match: str
    """As it was read; empty for a created flow, see `masks.text`."""
    actions: str
    """In canonical form; two flows that do the same in other words have different texts."""
    value: int
    mask: int
    written: str = ""
    """The actions as they were read."""
    packets: int = 0
    bytes: int = 0
    used_s: float | None = None
    """How long ago it was last used, in seconds; None for `used:never`."""
    offloaded: bool | None = None
    """None if the dump does not include it."""
    recirculated: bool = False
    """Its recirculation id is not 0: another hardware table."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that should be a flow and could not be read."""

    line: int
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Dump:
    """Flows in the dump's order, with what could not be read."""

    space: HeaderSpace
    flows: tuple[Flow, ...]
    bad: tuple[BadLine, ...]


_UFID = re.compile(r"ufid:([0-9a-fA-F-]{32,36}),\s*")
_USED = re.compile(r"\d+(\.\d+)?s?")
_COUNTERS = re.compile(r"packets:([0-9]+), bytes:([0-9]+), used:(?:never|([0-9.]+)s)((?:, offloaded:yes)?)(?:, dp:tc)?,? ?")
"""The counters of most flows; those of others are read word by word."""


def read_dump(text: str, space: HeaderSpace) -> Dump:
    """Read all lines; those that cannot be read are counted, with the reason, and the others are kept.

    >>> dump = read_dump("in_port(1),eth_type(0x0800), packets:5, bytes:300, used:0.1s, actions:2", HeaderSpace())
    >>> dump.flows[0].packets, dump.flows[0].actions, dump.bad
    (5, '2', ())
    """
    with collector_paused():
        return _read_dump(text, space)


def _read_dump(text: str, space: HeaderSpace) -> Dump:
    parser = MatchParser(space)
    flows: list[Flow] = []
    bad: list[BadLine] = []
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith(("flow-dump from ", "#")):
            continue
        try:
            flows.append(read_line(stripped, number, parser))
        except Malformed as problem:
            bad.append(BadLine(number, str(problem), stripped[:200]))
    return Dump(space, tuple(flows), tuple(bad))


def read_line(line: str, number: int, parser: MatchParser) -> Flow:
    """One flow.

    Raises
    ------
    Malformed
        When the line is not a flow.
    """
    head, found, actions = line.partition("actions:")
    if not found or (head and head[-1] not in " ,") or not actions.strip():
        raise Malformed("no actions; the line may have been truncated")  # no actions are printed as "drop"
    ufid = _UFID.match(head)
    if head.startswith("ufid:") and (ufid is None or len(ufid[1].replace("-", "")) != 32):
        raise Malformed("the ufid must have 32 hexadecimal digits")
    body = head[ufid.end() :] if ufid else head
    match, statistics = _cut(body)
    if not match:
        raise Malformed("no match before the counters")
    value, mask = parser.parse(match)
    space = parser.space
    packets, octets, used_s, offloaded = _statistics(statistics)
    return Flow(
        line=number,
        ufid=ufid[1] if ufid else "",
        match=match,
        actions=canonical(actions),
        value=value,
        mask=mask,
        written=actions.split(", dp-extra-info:")[0].strip(),
        packets=packets,
        bytes=octets,
        used_s=used_s,
        offloaded=offloaded,
        recirculated=space.field_of(value, "recirc_id") != 0,
    )


def _cut(body: str) -> tuple[str, str]:
    """The match and the counters; a dump may have none."""
    mark = body.rfind(" packets:")
    match, statistics = (body, "") if mark < 0 else (body[:mark], body[mark + 1 :])
    return match.rstrip().rstrip(",").rstrip(), statistics


def _statistics(text: str) -> tuple[int, int, float | None, bool | None]:
    usual = _COUNTERS.fullmatch(text)
    if usual and (usual[4] or "dp:" not in text) and (usual[3] is None or _USED.fullmatch(usual[3])):
        return int(usual[1]), int(usual[2]), None if usual[3] is None else float(usual[3]), True if usual[4] else None
    packets = octets = 0
    used_s: float | None = None
    offloaded: bool | None = None
    for word in text.split(","):
        name, _, value = word.strip().partition(":")
        if name in ("packets", "bytes"):
            if not value.isdecimal():
                raise Malformed(f"{name}: {value!r} is not a number")
            packets, octets = (int(value), octets) if name == "packets" else (packets, int(value))
        elif name == "used" and value != "never":
            if not _USED.fullmatch(value):
                raise Malformed(f"used: {value!r} is not a time")
            used_s = float(value.removesuffix("s"))
        elif name == "offloaded":
            offloaded = value == "yes"
        elif name == "dp" and offloaded is None:
            offloaded = False  # a dump that names the layer marks offloaded flows
    return packets, octets, used_s, offloaded
