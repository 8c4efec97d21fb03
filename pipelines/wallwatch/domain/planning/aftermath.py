"""Does the switch, after a plan was carried out, do what it did before? The proof again, of the flows that it really has.

Between two dumps of a live switch flows go and come: Open vSwitch removes idle ones and installs others, by unchanged rules.
So a missing flow is not a difference, because its packets go to software, which decides them alike; and flows that are neither from
before nor from the plan belong to Open vSwitch. What is left has to agree: wherever a packet matches a flow now that is from before or
from the
plan, its actions are those that it met before.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from wallwatch.domain.masks.dump import Dump, Flow
from wallwatch.domain.planning.compare import Comparison, NotComparable, compare_flows


@dataclass(frozen=True)
class Aftermath:
    """The result of comparing the flows afterwards."""

    proof: Comparison
    missing: int
    """Flows of before that are not there."""
    fresh: int
    """Flows that are neither of before nor the plan's."""
    entries: int
    """Exact entries of the plan that are there."""


def aftermath(before: Dump, after: Dump, entries: Set[str]) -> Aftermath:
    """Compare the flows before and after over one header space.

    Parameters
    ----------
    entries : set of str
        The ufids of the plan's exact entries.

    Raises
    ------
    NotComparable
        When a dump was not read whole.
    """
    for name, dump in (("before", before), ("afterwards", after)):
        if dump.bad:
            raise NotComparable(f"line {dump.bad[0].line} of the flows {name} could not be read: {dump.bad[0].reason}")
    known = {(flow.value, flow.mask) for flow in before.flows}
    standing = _once([flow for flow in after.flows if flow.ufid in entries or (flow.value, flow.mask) in known])
    # A dump does not show where the entries are. First is the worst case: behind the rules around them they decide nothing.
    standing.sort(key=lambda flow: flow.ufid not in entries)
    there = {(flow.value, flow.mask) for flow in standing}
    first = _once(before.flows)
    proof = compare_flows(first, standing, before.space, may_miss=np.ones(len(first), dtype=bool))
    return Aftermath(
        proof=proof,
        missing=sum((flow.value, flow.mask) not in there for flow in first),
        fresh=len(_once(after.flows)) - len(standing),
        entries=sum(flow.ufid in entries for flow in standing),
    )


def _once(flows: tuple[Flow, ...] | list[Flow]) -> list[Flow]:
    """Without the repetitions of a userspace datapath's threads."""
    return list({(flow.value, flow.mask, flow.actions): flow for flow in flows}.values())
