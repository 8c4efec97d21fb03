"""The plan of one direction: its hyper masks, the masks that go, and the order of the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain as chained

import numpy as np

from wallwatch.domain.masks.dump import Flow
from wallwatch.domain.masks.rules import Numbers, RuleSet, rule_set
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning.chain import Chain, ChainMask, Direction
from wallwatch.domain.planning.hyper import Entry, HyperMask, choose
from wallwatch.domain.planning.order import SLACK_QUERIES, SLACK_SHARE, Order, arrange
from wallwatch.domain.planning.overlap import conflicts, first_container
from wallwatch.domain.planning.traffic import IDLE_S, LATER_S, SOON_S, Traffic

LEAST_SERVED = 0.01
"""Minimum share of its direction's packets for a hyper mask: it costs all other packets one more lookup."""


@dataclass(frozen=True)
class DirectionPlan:
    """The plan of one direction: its chain before and after, by mask."""

    chain: Chain
    hyper: tuple[HyperMask, ...]
    order: Order
    """Indexes into `cascading`."""
    cascading: tuple[ChainMask, ...]
    """The masks after the plan, in the chain's previous order; new hyper masks are last."""
    heads: tuple[int, ...]
    """Which of them are hyper masks."""
    removed: tuple[ChainMask, ...]
    queries_after: float | None
    """Mean lookups one minute after the dump, when some flows with entries are gone and others were added under their masks."""
    queries_at_best: float | None
    """While all flows with entries are active."""
    queries_later: float | None
    """Three minutes after the dump."""

    @property
    def moved_flows(self) -> int:
        return sum(len(self.cascading[at].rows) for at in self.order.moved)


def contested_pairs(rules: RuleSet, order: Numbers) -> Numbers:
    """Pairs of rows that overlap and have different actions, shape (pairs, 2); the first wins. Open vSwitch creates none, but users can."""
    found = [np.stack([a, b], axis=1)[order[a] < order[b]] for a, b in conflicts(rules, rules)]
    return np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class DirectionPlanner:
    """Inputs of the plans of both directions."""

    flows: list[Flow]
    space: HeaderSpace
    traffic: Traffic
    rules: RuleSet
    contested: Numbers
    chains: dict[Direction, Chain]

    def hyper_masks(self, chain: Chain, expected_headers: Sequence[tuple[int, int]]) -> tuple[HyperMask, ...]:
        """One for each table in which it serves enough packets to be worth its place; with all entries that they could have."""
        tables: dict[int, list[int]] = {}
        table = self.space.mask_of("recirc_id")
        for mask in chain.masks:
            if mask.recirculated:
                for row in mask.rows:
                    tables.setdefault(self.flows[row].value & table, []).append(row)
            else:
                tables.setdefault(0, []).extend(mask.rows)
        found: list[HyperMask] = []
        for rows in tables.values():
            one = choose(rows, self.flows, self.space, self.traffic)
            if one is not None and self.served(one) >= LEAST_SERVED * chain.packets:
                found.append(self.warmed(one, rows, expected_headers))
        return tuple(found) if self._better(self.plan(chain, tuple(found)), self.plan(chain, ())) else ()

    @staticmethod
    def _better(exact: DirectionPlan, plain: DirectionPlan) -> bool:
        """Whether the plan with exact entries saves lookups that are worth its moves."""
        if exact.queries_after is None or plain.queries_after is None:
            return False
        saved = plain.queries_after - exact.queries_after
        return saved > max(SLACK_SHARE * plain.queries_after, SLACK_QUERIES) or (saved >= 0 and exact.moved_flows <= plain.moved_flows)

    def served(self, mask: HyperMask) -> float:
        """Packets of the last minute that have an exact entry."""
        return float(self.traffic.packets[list(mask.present)].sum() + self.traffic.packets[list(mask.shielded)].sum())

    def warmed(self, mask: HyperMask, rows: Sequence[int], headers: Sequence[tuple[int, int]]) -> HyperMask:
        """The hyper mask with entries for flows that are likely to come, as far as a rule of the table decides them."""
        taken = {entry.value for entry in mask.entries} | {self.flows[row].value for row in mask.present}
        values = list(dict.fromkeys(value & mask.mask for value, known in headers if not mask.mask & ~known))
        values = [value for value in values if value not in taken]
        if not values:
            return mask
        probes = rule_set([(value, mask.mask) for value in values], [0] * len(values), self.space)
        table = np.asarray(rows)
        first = first_container(probes, self.rules.take(table))
        more = [Entry(value, int(table[row]), True) for value, row in zip(values, first, strict=True) if row >= 0]
        return replace(mask, entries=(*mask.entries, *more))

    def spare(self, rows: Sequence[int]) -> set[int]:
        """Those of some rows that another rule contains and treats alike."""
        inside = np.asarray(rows, dtype=np.int64)
        outside = np.setdiff1d(np.arange(len(self.rules)), inside)
        first = first_container(self.rules.take(inside), self.rules.take(outside))
        alike = (first >= 0) & (self.rules.actions[outside[first]] == self.rules.actions[inside]) if len(outside) else first >= 0
        return {int(row) for row in inside[alike]}

    def entries(self, hyper: Sequence[HyperMask], first: int) -> list[Flow]:
        """The exact entries as flows. Where rules overlap with other actions an entry does what the first of them does."""
        made = [(entry.value, mask.mask, entry.row) for mask in hyper for entry in mask.entries]
        decides = [row for _, _, row in made]
        if made and len(self.contested):
            decides = first_container(rule_set([one[:2] for one in made], [0] * len(made), self.space), self.rules).tolist()
        return [
            Flow(
                line=-number,
                ufid="",
                match="",
                actions=self.flows[row].actions,
                written=self.flows[row].written,
                value=value,
                mask=mask,
                recirculated=self.flows[row].recirculated,
            )
            for number, ((value, mask, _), row) in enumerate(zip(made, decides, strict=True), first)
        ]

    def plan(self, chain: Chain, hyper: tuple[HyperMask, ...]) -> DirectionPlan:
        """The order of one direction."""
        exact = {(mask.mask, mask.recirc_id != 0): mask for mask in hyper}
        shielded = [row for mask in hyper for row in mask.shielded]
        removed = self._removed(chain, exact)
        standing = self._standing(chain, exact, removed)
        packets = self._meeting(standing, exact, shielded, SOON_S)
        at_head = {at for at, mask in enumerate(standing) if (mask.mask, mask.recirculated) in exact}
        forced = {at for at in range(max(at_head, default=0)) if at not in at_head}
        order = arrange(standing, packets, forced, self._kept(standing), at_head)
        final = [*order.stay, *order.moved]
        soon, at_best, later = (
            _queries(final, packets if seconds == SOON_S else self._meeting(standing, exact, shielded, seconds))
            for seconds in (SOON_S, 0.0, LATER_S)
        )
        return DirectionPlan(chain, hyper, order, tuple(standing), tuple(sorted(at_head)), removed, soon, at_best, later)

    def _removed(self, chain: Chain, exact: Mapping[tuple[int, bool], HyperMask]) -> tuple[ChainMask, ...]:
        """Idle masks, but for hyper masks and those of flows that overlap others with other actions."""
        contested = set(self.contested.ravel().tolist())
        return tuple(
            mask
            for mask in chain.masks
            if self.idle(mask) and (mask.mask, mask.recirculated) not in exact and contested.isdisjoint(mask.rows)
        )

    def _standing(self, chain: Chain, exact: Mapping[tuple[int, bool], HyperMask], removed: Sequence[ChainMask]) -> list[ChainMask]:
        """The masks that are there afterwards: what stays of the chain, then new hyper masks."""
        evicted = {row for mask in exact.values() for row in mask.evicted}
        left = {id(mask) for mask in removed}
        standing: list[ChainMask] = []
        for mask in chain.masks:
            rows = tuple(row for row in mask.rows if row not in evicted) if evicted else mask.rows
            if id(mask) not in left and rows:
                standing.append(replace(mask, rows=rows) if evicted else mask)
        there = {(mask.mask, mask.recirculated) for mask in standing}
        for key, made in exact.items():
            if key not in there and made.entries:
                standing.append(ChainMask(len(chain.masks), key[0], key[1], self.space.length_bits(key[0]), (), 0.0, 0.0))
        return standing

    def idle(self, mask: ChainMask) -> bool:
        """No packet for ten minutes; for a mask that was never used the dump does not show its age."""
        return mask.packets == 0 and IDLE_S <= mask.idle_s < np.inf

    def _meeting(
        self, masks: Sequence[ChainMask], exact: Mapping[tuple[int, bool], HyperMask], shielded: Sequence[int], after_s: float
    ) -> list[float]:
        """Packets of the last minute that match each mask this much later. By then some flows with entries are gone, and those
        that came in their place meet the masks of the rules behind the entries."""
        staying = self.traffic.staying(after_s)
        left = self.traffic.packets.copy()
        left[shielded] *= 1.0 - staying
        sizes = [len(one.rows) for one in masks]
        rows = np.fromiter(chained.from_iterable(one.rows for one in masks), dtype=np.int64, count=sum(sizes))
        found: list[float] = np.bincount(np.repeat(np.arange(len(masks)), sizes), weights=left[rows], minlength=len(masks)).tolist()
        for at, one in enumerate(masks):
            hyper = exact.get((one.mask, one.recirculated)) if exact else None
            if hyper:
                found[at] += staying * float(self.traffic.packets[list(hyper.shielded)].sum())
        return found

    def _kept(self, masks: Sequence[ChainMask]) -> set[tuple[int, int]]:
        """Pairs of masks whose order must stay, since flows of theirs overlap and have other actions."""
        place = np.full(len(self.flows), -1, dtype=np.int64)
        for at, mask in enumerate(masks):
            place[list(mask.rows)] = at
        pairs = place[self.contested]
        pairs = np.unique(pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])], axis=0)
        return {(int(first), int(second)) for first, second in pairs}


def _queries(chain: Sequence[int], packets: Sequence[float]) -> float | None:
    """Mean lookups of packets that meet masks in this order."""
    total = sum(packets)
    return sum(place * packets[at] for place, at in enumerate(chain)) / total if total else None
