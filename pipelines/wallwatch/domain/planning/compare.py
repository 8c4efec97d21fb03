"""Two dumps against each other: the proof with its rules, and the packet for which they differ, in the words of a dump."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from wallwatch.domain.masks.dump import Dump, Flow
from wallwatch.domain.masks.rules import Numbers, RuleSet, Words, chain_order, distinct, rule_set, word
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning.proof import Mask, Proof, Witness, prove

READINGS = ("masks in the order of their first appearance", "masks in that order on each port", "flows in the order of the dump")
"""A dump does not print the order in which the RNIC tries masks; where the order decides, the sets must agree in each of these."""


class NotComparable(ValueError):
    """Dumps that cannot be compared; the message explains what to do."""


@dataclass(frozen=True)
class CounterExample:
    """A packet that is treated differently."""

    packet: dict[str, str]
    """Header fields; those that are not named may have any value that the named flows allow."""
    before: Flow | None
    after: Flow | None
    before_actions: str
    after_actions: str
    reading: str
    assumes: tuple[str, ...]
    """Fields that are not understood and that the packet is assumed to meet or not."""


@dataclass(frozen=True)
class Comparison:
    """The proof of two lists of flows."""

    proof: Proof
    example: CounterExample | None
    flows_before: int
    flows_after: int
    masks_before: int
    masks_after: int
    opaque: tuple[str, ...]
    """Fields that are not understood: equal texts count as the same condition, nothing else is assumed of them."""
    took_ms: float


MISS = "none: the packet goes to software"


def compare(before: Dump, after: Dump) -> Comparison:
    """Compare two dumps over one header space.

    Raises
    ------
    NotComparable
        When one of them was not read whole, when both have no flows, or when one names ports where the other has numbers.
    """
    for name, dump in (("before", before), ("after", after)):
        if dump.bad:
            first = dump.bad[0]
            raise NotComparable(f"the dump {name} has {len(dump.bad)} lines that could not be read; line {first.line}: {first.reason}")
    if not before.flows and not after.flows:
        raise NotComparable("both dumps are empty")
    _same_ports(before, after)
    return compare_flows(before.flows, after.flows, before.space)


def compare_flows(
    before: Sequence[Flow],
    after: Sequence[Flow],
    space: HeaderSpace,
    chain: Sequence[int] | None = None,
    may_miss: Mask | None = None,
    rules: RuleSet | None = None,
) -> Comparison:
    """The same for lists of flows.

    Parameters
    ----------
    chain : sequence of int, optional
        The places of the flows after, where they are known.
    rules : RuleSet, optional
        The flows before as a rule set (`flow_rules`), where somebody has it already.
    """
    started = time.perf_counter()
    left = flow_rules(before, space) if rules is None else rules
    numbers = {flow.actions: number for flow, number in zip(before, left.actions.tolist(), strict=True)}
    right = _rules_after(after, before, left, numbers, space)
    orders_left = orders(before, left, space)
    orders_right = orders(after, right, space) if chain is None else [np.asarray(chain, dtype=np.int64)] * len(READINGS)
    proof = prove(left, right, list(zip(orders_left, orders_right, strict=True)), may_miss)
    example = None if proof.witness is None else _example(proof.witness, left, right, before, after, space)
    return Comparison(
        proof,
        example,
        len(before),
        len(after),
        len(left.groups[0]),
        len(right.groups[0]),
        tuple(sorted(space.unknown.values())),
        (time.perf_counter() - started) * 1000,
    )


def orders(flows: Sequence[Flow], rules: RuleSet, space: HeaderSpace) -> list[Numbers]:
    """The place of each flow, once for each of `READINGS`; `rules` are the same flows."""
    masks = 2 * rules.groups[1] + np.fromiter((flow.recirculated for flow in flows), dtype=np.int64, count=len(flows))
    _, port = distinct(rules.values & word(space.mask_of("in_port"), space))
    return [chain_order(masks), chain_order(masks * (len(flows) + 1) + port), np.arange(len(flows), dtype=np.int64)]


def _rules_after(after: Sequence[Flow], before: Sequence[Flow], rules: RuleSet, numbers: dict[str, int], space: HeaderSpace) -> RuleSet:
    """The flows after as a rule set; of flows that were there before, and are the same objects, the bits are known."""
    row_of = {id(flow): row for row, flow in enumerate(before)}
    known = np.fromiter((row_of.get(id(flow), -1) for flow in after), dtype=np.int64, count=len(after))
    if (known < 0).all():
        return flow_rules(after, space, numbers)
    new = np.flatnonzero(known < 0)
    made = flow_rules([after[row] for row in new.tolist()], space, numbers)
    old = rules.take(known)
    for whole, part in ((old.values, made.values), (old.masks, made.masks), (old.actions, made.actions)):
        whole[new] = part
    return old.ordered(np.arange(len(after), dtype=np.int64))


def flow_rules(flows: Sequence[Flow], space: HeaderSpace, numbers: dict[str, int] | None = None) -> RuleSet:
    """Flows as a rule set in their order; `numbers` has the number of each action list, shared by the sets that are compared."""
    numbers = {} if numbers is None else numbers
    actions = [numbers.setdefault(flow.actions, len(numbers)) for flow in flows]
    return rule_set([(flow.value, flow.mask) for flow in flows], actions, space)


def _example(
    witness: Witness, left: RuleSet, right: RuleSet, before: Sequence[Flow], after: Sequence[Flow], space: HeaderSpace
) -> CounterExample:
    first = None if witness.before is None else before[witness.before]
    second = None if witness.after is None else after[witness.after]
    fixed = _number(witness.mask)
    looked_at = fixed | (first.mask if first else 0) | (second.mask if second else 0)
    whole = 0
    for path in space.offsets:
        if space.field_of(looked_at, path):
            whole |= space.mask_of(path) if path not in space.unknown else fixed & space.mask_of(path)
    return CounterExample(
        packet=space.header(_number(witness.value), whole),
        before=first,
        after=second,
        before_actions=first.actions if first else MISS,
        after_actions=second.actions if second else MISS,
        reading=READINGS[witness.reading],
        assumes=tuple(text for path, text in space.unknown.items() if space.field_of(fixed, path)),
    )


def _number(words: Words) -> int:
    return int.from_bytes(words.astype("<u8").tobytes(), "little")


def _same_ports(before: Dump, after: Dump) -> None:
    """Names and numbers of ports cannot be compared."""
    first, second = _ports(before), _ports(after)
    if first and second and first.isdisjoint(second) and _numeric(first) != _numeric(second):
        raise NotComparable("one dump has port names and the other port numbers: dump both with `--names`, or both with `--no-names`")


def _ports(dump: Dump) -> set[str]:
    names = {number: name for name, number in dump.space.ports.items()}
    found = (names.get(dump.space.field_of(flow.value, "in_port")) for flow in dump.flows)
    return {name for name in found if name is not None}


def _numeric(ports: Iterable[str]) -> bool:
    return all(port.isdecimal() for port in ports)
