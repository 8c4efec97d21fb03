"""A mask plan of one RNIC: the hyper mask, the order of the cascading masks, the steps, what they gain and cost, and the proof.

>>> from wallwatch.domain.catalogue.load import profiles
>>> from wallwatch.domain.masks.dump import read_dump
>>> from wallwatch.domain.masks.space import HeaderSpace
>>> lines = ["in_port(1),eth_type(0x0800),ipv4(dst=10.0.0.0/24), packets:1, bytes:60, used:5s, actions:2"]
>>> lines += ["in_port(1),eth_type(0x0800),ipv4(dst=10.0.1.1), packets:900, bytes:60, used:1s, actions:3"]
>>> made = make_plan(read_dump(chr(10).join(lines), HeaderSpace()), profiles()["CX-6"])
>>> made.proof.proof.verdict, made.steps[0].command(made.space)
('equivalent', "dpctl/del-flow 'in_port(1),eth_type(0x0800),ipv4(dst=10.0.0.0/24)'")
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wallwatch.domain.catalogue.models import Profile
from wallwatch.domain.masks.collection import collector_paused
from wallwatch.domain.masks.dump import Dump, Flow
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.performance.parameters import DECLINE_SHARE
from wallwatch.domain.planning.chain import Direction, chains
from wallwatch.domain.planning.compare import Comparison, NotComparable, compare_flows, flow_rules, orders
from wallwatch.domain.planning.direction_plan import DirectionPlan, DirectionPlanner, contested_pairs
from wallwatch.domain.planning.effect import Cost, Expected, cost, expected
from wallwatch.domain.planning.hyper import fit
from wallwatch.domain.planning.steps import Step, applied, steps
from wallwatch.domain.planning.traffic import recent


@dataclass(frozen=True)
class Plan:
    """Everything about a plan; it may be offered if `offered` is true."""

    space: HeaderSpace
    directions: dict[Direction, DirectionPlan]
    planned: tuple[Flow, ...]
    """The flows of the dump that are planned, in the order of the chain."""
    steps: tuple[Step, ...]
    after: tuple[Flow, ...]
    """The flows that the steps lead to, in the order of the chain."""
    before: Expected
    then: Expected
    cost: Cost
    proof: Comparison
    low: Expected
    high: Expected
    """What is expected three minutes after the dump, and while all flows with entries continue."""
    left_to_software: int
    """Flows of removed masks: unused for ten minutes; if a packet comes, software decides it as before."""
    released: int
    """Flows of moved masks that are not added again, since an exact entry has their packets; should another come, software decides it."""
    flows: int
    hyper_capacity: int
    hyper_used: int
    entries_after: int
    """Flows in the RNIC afterwards."""
    traffic_basis: str
    took_ms: float
    """Without the proof, whose time is in `proof`."""

    @property
    def proven(self) -> bool:
        return self.proof.proof.verdict == "equivalent"

    @property
    def gain(self) -> float | None:
        """Expected share of bandwidth gained."""
        if self.before.bandwidth_gbps is None or self.then.bandwidth_gbps is None:
            return None
        return self.then.bandwidth_gbps / self.before.bandwidth_gbps - 1.0

    @property
    def latency_gain(self) -> float | None:
        """Expected share of latency saved."""
        if not self.before.latency_us or self.then.latency_us is None:
            return None
        return 1.0 - self.then.latency_us / self.before.latency_us

    @property
    def worthwhile(self) -> bool:
        """Whether the expected gain is one that is noticed, in bandwidth or in latency."""
        return max(self.gain or 0.0, self.latency_gain or 0.0) >= DECLINE_SHARE

    @property
    def offered(self) -> bool:
        """A plan that is not proven is not offered."""
        return self.proven


@collector_paused()
def make_plan(
    dump: Dump,
    profile: Profile,
    earlier: Sequence[Flow] = (),
    elapsed_s: float = 0.0,
    hyper_capacity: int | None = None,
    q_r: float | None = None,
    expected_headers: Sequence[tuple[int, int]] = (),
    release: bool = False,
) -> Plan:
    """Plan the masks of a whole dump.

    If a dump marks offloaded flows, only those are planned: only they are in the RNIC.

    Parameters
    ----------
    earlier, elapsed_s :
        The flows of an earlier dump, for the traffic of each flow.
    hyper_capacity : int, optional
        Entries of the hyper mask; the profile's wall of offloaded flows unless given.
    q_r : float, optional
        Mean lookups at the peers, if measured; by default the peers' chains are assumed to equal this RNIC's ingress chain.
    expected_headers : sequence of (value, mask)
        Headers of flows that are likely to come (`warmup`): they get entries up to the maximum.
    release : bool
        Whether flows whose packets have an exact entry are left out when their mask is moved. Nobody would use them, and Open vSwitch
        would delete them within seconds; but until it installs them again, packets of theirs that no entry has go to software. Never
        where flows with different actions overlap.

    Raises
    ------
    NotComparable
        When the dump was not read completely, or is empty: a plan for a part would not be proven for the rest.
    """
    started = time.perf_counter()
    flows = _planned(dump)
    traffic = recent(flows, earlier, elapsed_s)
    capacity = int(profile.limits["offloaded_flows"].value) if hyper_capacity is None else hyper_capacity
    rules = flow_rules(flows, dump.space)
    contested = contested_pairs(rules, orders(flows, rules, dump.space)[0])
    careful = len(contested) > 0
    planner = DirectionPlanner(flows, dump.space, traffic, rules, contested, chains(flows, dump.space, traffic))
    directions = _plan_directions(planner, capacity, expected_headers)
    changes = _changes_of(planner, directions)
    row_of = {flow.line: row for row, flow in enumerate(flows)}
    released = changes.replaced(row_of) if release and not careful else []
    done = steps(changes.entries, changes.rules, changes.removed, changes.moved, careful, {flows[row].line for row in released})
    after = applied(flows, done)
    price = cost(done, traffic, row_of, changes.shielded, profile, careful)
    left_to_software = np.zeros(len(flows), dtype=bool)
    left_to_software[[row for plan in directions.values() for mask in plan.removed for row in mask.rows]] = True
    may_miss = left_to_software.copy()
    may_miss[released] = True
    took_ms = (time.perf_counter() - started) * 1000
    proof = compare_flows(flows, after, dump.space, chain=range(len(after)), may_miss=may_miss, rules=rules)
    egress, ingress = directions["egress"], directions["ingress"]

    def performance_at(here: float | None, there: float | None) -> Expected:
        return expected(profile, here, there if q_r is None else q_r)

    return Plan(
        space=dump.space,
        directions=directions,
        planned=tuple(flows),
        steps=tuple(done),
        after=tuple(after),
        before=performance_at(egress.chain.queries, ingress.chain.queries),
        then=performance_at(egress.queries_after, ingress.queries_after),
        low=performance_at(egress.queries_later, ingress.queries_later),
        high=performance_at(egress.queries_at_best, ingress.queries_at_best),
        cost=price,
        proof=proof,
        left_to_software=int(left_to_software.sum()),
        released=len(released),
        flows=len(flows),
        hyper_capacity=capacity,
        hyper_used=sum(len(mask.present) + len(mask.entries) for plan in directions.values() for mask in plan.hyper),
        entries_after=len(after),
        traffic_basis=traffic.basis,
        took_ms=took_ms,
    )


def _plan_directions(
    planner: DirectionPlanner, capacity: int, expected_headers: Sequence[tuple[int, int]]
) -> dict[Direction, DirectionPlan]:
    """The plan of each direction; their hyper masks share the capacity."""
    chosen = {side: planner.hyper_masks(chain, expected_headers) for side, chain in planner.chains.items()}
    fitted = iter(fit([mask for masks in chosen.values() for mask in masks], capacity, planner.traffic, planner.spare))
    return {side: planner.plan(chain, tuple(next(fitted) for _ in chosen[side])) for side, chain in planner.chains.items()}


@dataclass
class _Changes:
    """What the plans of both directions change."""

    entries: list[Flow] = field(default_factory=list)
    """Exact entries to add."""
    rules: list[Flow] = field(default_factory=list)
    """The flow that each entry is a part of."""
    shielded: set[int] = field(default_factory=set)
    """Rows whose packets have an entry."""
    removed: list[Flow] = field(default_factory=list)
    moved: list[list[Flow]] = field(default_factory=list)
    """The flows of each mask that is re-added, in the order of the new chain."""

    def replaced(self, row_of: Mapping[int, int]) -> list[int]:
        """Rows of moved masks whose packets an exact entry has."""
        rows = (row_of[flow.line] for mask in self.moved for flow in mask)
        return [row for row in rows if row in self.shielded]


def _changes_of(planner: DirectionPlanner, directions: Mapping[Direction, DirectionPlan]) -> _Changes:
    flows, changes = planner.flows, _Changes()
    for plan in directions.values():
        changes.entries += planner.entries(plan.hyper, first=len(changes.entries) + 1)
        changes.removed += [flows[row] for mask in plan.removed for row in mask.rows]
        for mask in plan.hyper:
            changes.rules += [flows[entry.row] for entry in mask.entries]
            changes.shielded.update(mask.shielded)
            changes.removed += [flows[row] for row in mask.evicted]
        changes.moved += [[flows[row] for row in plan.cascading[at].rows] for at in plan.order.moved]
    return changes


def _planned(dump: Dump) -> list[Flow]:
    if dump.bad:
        first = dump.bad[0]
        raise NotComparable(f"{len(dump.bad)} lines could not be read; line {first.line}: {first.reason}")
    offloaded = [flow for flow in dump.flows if flow.offloaded] or list(dump.flows)
    if offloaded and len({flow.value for flow in offloaded}) == len(offloaded):
        return offloaded
    # Threads of the userspace datapath print a flow each; it is deleted once.
    flows = list({(flow.value, flow.mask, flow.actions): flow for flow in offloaded}.values())  # at the place of the first
    if not flows:
        raise NotComparable("the dump has no flows")
    return flows
