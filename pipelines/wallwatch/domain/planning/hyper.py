"""The hyper mask: exact entries for flows that have traffic, ahead of all other masks (paper, section 4.3).

Exact in every bit of a field that any rule of the table looks at: two packets that agree there are handled alike by all of them.

An entry is always a part of the rule that its packets meet today and does the same, so it changes no packet's treatment whatever its
values are. What a rule leaves open must be known to make an exact entry of it: a dump shows it if other flows of the same Ethernet
address match its IP address in full. A guess that is wrong costs an entry without packets, nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import NamedTuple

from wallwatch.domain.masks.dump import Flow
from wallwatch.domain.masks.fields import known
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning.traffic import IDLE_S, Traffic

PAIRS = tuple((f"eth.{end}", f"{version}.{end}") for version in ("ipv4", "ipv6") for end in ("src", "dst"))
"""An Ethernet address identifies the IP address of the same end, if it has only one in the dump."""


class Entry(NamedTuple):
    """An exact entry: the bits of the hyper mask with all their values, and the row of the rule that it comes from."""

    value: int
    row: int
    known_before: bool = False
    """It is expected rather than seen: warmed up."""


@dataclass(frozen=True)
class HyperMask:
    """The hyper mask of one table with its entries; those in `present` are rules of the dump already."""

    recirc_id: int
    """The table: 0, or where `recirc` sends packets."""
    mask: int
    present: tuple[int, ...]
    entries: tuple[Entry, ...]
    evicted: tuple[int, ...]
    left_out: int
    """Entries that exceeded the maximum."""
    uncovered: int
    """Flows with traffic whose exact header is not in the dump."""
    resting: int = 0
    """Flows with traffic that do not continue: they would lose an entry while idle."""

    @property
    def shielded(self) -> Iterator[int]:
        """Rows whose packets get an entry. For an entry that is only expected, the rule keeps the packets."""
        return (entry.row for entry in self.entries if not entry.known_before)


def choose(rows: Sequence[int], flows: Sequence[Flow], space: HeaderSpace, traffic: Traffic) -> HyperMask | None:
    """The hyper mask of one table with all entries that it could have: the set of fields under which most packets have exact entries.

    None if there is none. `fit` takes as many entries as the maximum allows.

    Parameters
    ----------
    rows : sequence of int
        The table's flows.
    """
    by_mask: dict[int, list[int]] = {}
    for row in rows:
        by_mask.setdefault(flows[row].mask, []).append(row)
    table = _Table.of(by_mask, space)
    headers = _headers_of(table, by_mask, flows, space, traffic)
    best = _best(headers.packets)
    if best is None:
        return None
    mask = table.port | sum(bits for at, bits in enumerate(table.bits_of) if best >> at & 1)
    present = [row for row in rows if flows[row].mask == mask]
    fitting = sorted((one.row, one.value) for one in headers.known if not one.need & ~best and not best & ~one.fields)
    taken = {flows[row].value for row in present}
    entries: dict[int, Entry] = {}
    for row, value in fitting:
        header = value & mask
        if header not in taken and header not in entries:
            entries[header] = Entry(header, row)
    recirc_id = space.field_of(flows[rows[0]].value, "recirc_id")
    uncovered = len(headers.known) - len(fitting)
    return HyperMask(recirc_id, mask, tuple(present), tuple(entries.values()), (), 0, uncovered, headers.resting)


@dataclass(frozen=True)
class _Table:
    """The fields of a table; sets of them are bits over `paths`."""

    paths: list[str]
    bits_of: list[int]
    """Of each field: the bits that any mask looks at."""
    looked_at: int
    usable: int
    """Fields that an exact entry may have."""
    port: int

    @classmethod
    def of(cls, masks: Iterable[int], space: HeaderSpace) -> _Table:
        paths = [path for path in space.offsets if path != "in_port"]
        usable = sum(1 << at for at, path in enumerate(paths) if path == "tunnel" or known(path) is not None)
        looked_at = reduce(or_, masks, 0)
        return cls(paths, [space.mask_of(path) & looked_at for path in paths], looked_at, usable, space.mask_of("in_port"))


class _Header(NamedTuple):
    """What is known of a flow's packets."""

    need: int
    """Fields that its mask looks at."""
    fields: int
    """Fields that are known in full."""
    row: int
    value: int
    """All bits that are known."""


@dataclass
class _Headers:
    """The headers of a table's flows that have packets and continue."""

    known: list[_Header] = field(default_factory=list)
    packets: dict[tuple[int, int], float] = field(default_factory=dict)
    """By need and fields."""
    resting: int = 0
    """Flows with packets that do not continue."""


def _headers_of(
    table: _Table, by_mask: Mapping[int, Sequence[int]], flows: Sequence[Flow], space: HeaderSpace, traffic: Traffic
) -> _Headers:
    learned = _Addresses.of(by_mask, flows, table.looked_at, space, table.paths)
    packets, lasting = traffic.packets.tolist(), traffic.lasting.tolist()
    found = _Headers()
    for mask, members in by_mask.items():
        need, exact = _needs(mask, table.bits_of)
        if need & ~table.usable or not mask & table.port:
            continue
        open_ends = learned.open_ends(mask, exact)
        served: dict[int, float] = {}
        for row in members:
            if packets[row] == 0:
                continue
            if not lasting[row]:
                found.resting += 1
                continue
            fields, value = _completed(exact, flows[row].value, open_ends)
            found.known.append(_Header(need, fields, row, value))
            served[fields] = served.get(fields, 0.0) + packets[row]
        for fields, count in served.items():
            found.packets[need, fields] = found.packets.get((need, fields), 0.0) + count
    return found


def _completed(exact: int, value: int, open_ends: Sequence[tuple[dict[int, int | None], int, int, int]]) -> tuple[int, int]:
    """Fields and bits of a flow with the IP addresses that its Ethernet addresses identify."""
    fields = exact
    for addresses, ethernet, counted, place in open_ends:
        address = addresses.get(value & ethernet)
        if address is not None and not (address ^ value) & counted:
            fields |= place
            value |= address
    return fields, value


def fit(masks: Sequence[HyperMask], capacity: int, traffic: Traffic, spare: Callable[[Sequence[int]], Set[int]]) -> tuple[HyperMask, ...]:
    """The hyper masks with as many entries as the common maximum allows: the least recently used are skipped.

    Entries that are there and idle for ten minutes leave, and above the capacity the least recently used; a rule that nothing replaces
    stays.

    Parameters
    ----------
    spare : function of rows
        Those of them whose packets another rule treats alike, so that they may be evicted.
    """

    idle_s, packets = traffic.idle_s.tolist(), traffic.packets.tolist()

    def use(row: int) -> tuple[float, float]:
        return idle_s[row], -packets[row]

    present = sorted((row for one in masks for row in one.present), key=use)
    leaving = [row for at, row in enumerate(present) if at >= capacity or IDLE_S <= idle_s[row] < math.inf]
    evicted = spare(leaving) if leaving else set()
    room = max(0, capacity - len(present) + len(evicted))
    entries = [entry for one in masks for entry in one.entries]
    if len(entries) > room:
        entries.sort(key=lambda entry: (entry.known_before, use(entry.row)))
    chosen = {id(entry) for entry in entries[:room]}
    return tuple(
        replace(
            one,
            present=tuple(row for row in one.present if row not in evicted),
            evicted=tuple(row for row in one.present if row in evicted),
            entries=tuple(entry for entry in one.entries if id(entry) in chosen),
            left_out=sum(id(entry) not in chosen for entry in one.entries),
        )
        for one in masks
    )


def _needs(mask: int, bits_of: Sequence[int]) -> tuple[int, int]:
    """Fields that a mask looks at, and those of which it looks at every bit that any mask does, as sets of bits over `bits_of`."""
    need = exact = 0
    for at, all_bits in enumerate(bits_of):
        bits = mask & all_bits
        if bits:
            need |= 1 << at
            if bits == all_bits:
                exact |= 1 << at
    return need, exact


@dataclass(frozen=True)
class _End:
    """One end of a flow: places of its IP and Ethernet fields among the paths, and their bits."""

    place: int
    mac_place: int
    address: int
    ethernet: int


@dataclass(frozen=True)
class _Addresses:
    """IP addresses in a table, by Ethernet address."""

    ends: list[_End]
    """Those of which any mask looks at both addresses."""
    learned: dict[int, dict[int, int | None]]
    """Place of the IP field -> Ethernet address -> IP address; None if there are several."""

    @classmethod
    def of(
        cls, by_mask: Mapping[int, Sequence[int]], flows: Sequence[Flow], looked_at: int, space: HeaderSpace, paths: list[str]
    ) -> _Addresses:
        ends = [
            _End(paths.index(ip), paths.index(mac), space.mask_of(ip) & looked_at, space.mask_of(mac) & looked_at)
            for mac, ip in PAIRS
            if space.mask_of(ip) & looked_at and space.mask_of(mac) & looked_at
        ]
        learned: dict[int, dict[int, int | None]] = {end.place: {} for end in ends}
        for end in ends:
            both, addresses = end.address | end.ethernet, learned[end.place]
            for mask, rows in by_mask.items():
                for row in rows if mask & both == both else ():
                    key, value = flows[row].value & end.ethernet, flows[row].value & end.address
                    addresses[key] = value if addresses.get(key, value) == value else None
        return cls(ends, learned)

    def open_ends(self, mask: int, exact: int) -> list[tuple[dict[int, int | None], int, int, int]]:
        """What completes the flows of a mask: for each end whose Ethernet address is among the fields of `exact`, and whose IP address
        is not, the addresses, the bits of the Ethernet address, those of the IP address that the mask looks at, and the IP field."""
        return [
            (self.learned[end.place], end.ethernet, mask & end.address, 1 << end.place)
            for end in self.ends
            if not exact >> end.place & 1 and exact >> end.mac_place & 1
        ]


def _best(wanted: Mapping[tuple[int, int], float]) -> int | None:
    """The set of fields that serves most packets: a flow fits when it needs no other field and has a value for each."""
    candidates = {fields for pair in wanted for fields in pair}
    best: tuple[float, int, int] | None = None
    for fields in candidates:
        served = sum(packets for (need, have), packets in wanted.items() if not need & ~fields and not fields & ~have)
        rank = (served, fields.bit_count(), fields)
        if served > 0 and (best is None or rank > best):
            best = rank
    return None if best is None else best[2]
