"""The operations of a plan, in an order in which no packet ever meets other actions than before.

1. Exact entries are added. Each does what the rule does that its packets meet today, so nothing changes for them, and from now on they need
   no rule that the next steps remove. Those of a mask that is moved are added right before: while their packets still meet the mask
   ahead, the entries are idle, and Open vSwitch would delete them after `max-idle` (10 s).
2. Masks that nothing used for ten minutes, and entries that left the hyper mask, are removed.
3. Masks are moved: all flows of one are deleted, so that its place in the chain is given up, and added again, which puts it at the end.
   Their packets pass through software meanwhile, where Open vSwitch decides them by the same rules as ever, unless an exact entry has
   them. A flow whose packets an exact entry has may be left out when its mask is added again (`released`): it would be idle, and Open
   vSwitch would delete it after `max-idle`, while insertions wait behind thousands of such deletions.

Where flows overlap and have other actions, deleting one would let its packets meet the other. Then all flows that are moved are deleted
first, the last of the chain before the first, and added in the order of the new chain.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Literal, NamedTuple

from wallwatch.domain.masks.dump import Flow
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.masks.text import text_of

Phase = Literal["activate", "remove", "move"]


class Step(NamedTuple):
    """One operation of `ovs-appctl`. A plan has thousands."""

    phase: Phase
    add: bool
    flow: Flow

    def command(self, space: HeaderSpace) -> str:
        """The operation as it is typed."""
        ufid = f"ufid:{self.flow.ufid}" if self.flow.ufid else ""
        if not self.add:
            return f"dpctl/del-flow '{ufid or text_of(self.flow, space)}'"
        match = ",".join(part for part in (ufid, text_of(self.flow, space)) if part)
        return f"dpctl/add-flow '{match}' '{self.flow.written}'"


def steps(
    entries: Sequence[Flow],
    rules: Sequence[Flow],
    removed: Sequence[Flow],
    moved: Sequence[Sequence[Flow]],
    careful: bool,
    released: Set[int] = frozenset(),
) -> list[Step]:
    """All operations.

    Parameters
    ----------
    entries, rules : sequences of Flow
        The exact entries, and the flow that each of them is a part of.
    moved : sequence of sequences of Flow
        The flows of each mask in the order of the new chain.
    careful : bool
        Flows with other actions overlap.
    released : set of int
        Lines of flows that are not added again.
    """
    away = [Step("remove", False, flow) for flow in reversed(removed)]
    if careful:
        found = [Step("activate", True, flow) for flow in entries] + away
        found += [Step("move", False, flow) for mask in reversed(moved) for flow in reversed(mask)]
        found += [Step("move", True, flow) for mask in moved for flow in mask]
        return found
    late: dict[tuple[int, bool], list[Step]] = {(mask[0].mask, mask[0].recirculated): [] for mask in moved}
    found = []
    for entry, rule in zip(entries, rules, strict=True):
        late.get((rule.mask, rule.recirculated), found).append(Step("activate", True, entry))
    found += away
    for mask in moved:
        found += late[mask[0].mask, mask[0].recirculated]
        found += [Step("move", False, flow) for flow in mask]
        found += [Step("move", True, flow) for flow in mask if flow.line not in released]
    return found


def applied(chain: Sequence[Flow], done: Sequence[Step]) -> list[Flow]:
    """The chain after the steps: additions go behind all existing flows, or to their own mask.

    The proof uses this chain, so that it covers the steps themselves and not their intention.
    """
    masks: dict[tuple[int, bool], dict[int, Flow]] = {}  # flows by their line, which created entries have too
    for flow in chain:
        masks.setdefault((flow.mask, flow.recirculated), {})[flow.line] = flow
    key: tuple[int, bool] = (-1, False)
    members: dict[int, Flow] = {}
    for step in done:
        flow = step.flow
        if flow.mask != key[0] or flow.recirculated != key[1] or not members:
            key = (flow.mask, flow.recirculated)
            members = masks.setdefault(key, {})
        if step.add:
            members[flow.line] = flow
            continue
        del members[flow.line]
        if not members:
            del masks[key]
    return [flow for members in masks.values() for flow in members.values()]
