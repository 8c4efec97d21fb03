"""Does the switch, after a plan was carried out, do what it did before? The proof again, of the flows that it really has.

Between two dumps of a live switch flows go and come: Open vSwitch takes idle ones away and installs others, by the same rules as ever.
So a flow that is missing is no difference, since its packets go to software, which decides them alike; and flows that are neither of before
nor the plan's are Open vSwitch's own business. What is left has to agree: wherever a packet meets a flow now that is of before or of the
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
    """What the flows afterwards say."""

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
    # A dump does not tell where the entries stand. First is where they decide most: behind the rules around them they decide nothing.
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
