"""Plans and proofs as typed reports, for programs: `wallwatch plan --json` and the API. The keys are described in docs/plans.md."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, Field

from wallwatch.domain.masks.dump import Flow
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.masks.text import text_of
from wallwatch.domain.planning.chain import ChainMask
from wallwatch.domain.planning.compare import Comparison
from wallwatch.domain.planning.compare import CounterExample as FoundExample
from wallwatch.domain.planning.direction_plan import DirectionPlan
from wallwatch.domain.planning.effect import Expected
from wallwatch.domain.planning.hyper import HyperMask
from wallwatch.domain.planning.plan import Plan
from wallwatch.domain.planning.steps import Step


class PlanExpectation(BaseModel):
    """Mean lookups per packet in both chains, and the performance that follows from them."""

    q_l: float | None
    q_r: float | None
    bandwidth_gbps: float | None
    latency_us: float | None


class PlanExpected(BaseModel):
    before: PlanExpectation
    after: PlanExpectation = Field(description="One minute after the flows were read")
    low: PlanExpectation = Field(description="Three minutes after: flows with entries are gone, others were added under the masks behind")
    high: PlanExpectation = Field(description="While all flows with entries are active")
    bandwidth_gain: float | None
    latency_gain: float | None


class PlanCost(BaseModel):
    operations: int
    insertions: int
    duration_s: float
    pace_per_s: float
    flows_in_software: int = Field(description="Flows whose packets pass through software while their mask is moved")
    longest_in_software_s: float
    packets_in_software: float


class HyperMaskUse(BaseModel):
    direction: str
    recirc_id: int
    mask: str
    length_bits: int
    present: int
    added: int
    warmed: int
    evicted: int
    left_out: int
    without_exact_header: int
    resting: int = Field(description="Flows with traffic that are idle or new; they would lose an entry")


class HyperUse(BaseModel):
    capacity: int
    used: int
    masks: list[HyperMaskUse]


class PlannedMask(BaseModel):
    position: int
    mask: str
    length_bits: int
    flows: int
    packets_60s: float
    score: float


class PlacedMask(PlannedMask):
    """A mask of the chain afterwards."""

    hyper: bool
    moved: bool


class PlannedChain(BaseModel):
    queries_before: float | None
    queries_after: float | None
    before: list[PlannedMask]
    after: list[PlacedMask]
    removed: list[PlannedMask]


class PlannedChains(BaseModel):
    egress: PlannedChain
    ingress: PlannedChain


class PlannedStep(BaseModel):
    phase: Literal["activate", "remove", "move"]
    operation: Literal["add-flow", "del-flow"]
    ufid: str
    match: str
    actions: str
    command: str


class FlowOfExample(BaseModel):
    line: int
    ufid: str
    match: str


class TreatedAs(BaseModel):
    actions: str
    flow: FlowOfExample | None


class CounterExample(BaseModel):
    """A packet that is treated differently."""

    packet: dict[str, str] = Field(description="Header fields; fields not listed may have any value that the flows allow")
    before: TreatedAs
    after: TreatedAs
    order: str
    assumes: list[str]


class PlanProof(BaseModel):
    equivalent: bool
    verdict: Literal["equivalent", "different", "undecided"]
    reason: str
    counterexample: CounterExample | None
    flows_before: int
    flows_after: int
    masks_before: int
    masks_after: int
    contested_pairs: int
    regions_searched: int
    opaque_fields: list[str]
    took_ms: float


class PlanSummary(BaseModel):
    """Everything about a plan but its steps."""

    profile: str
    flows: int
    offered: bool = Field(description="Proven")
    worthwhile: bool
    expected: PlanExpected
    cost: PlanCost
    hyper: HyperUse
    entries_after: int
    left_to_software: int
    released: int = Field(
        description="Flows that are not added again when their mask is moved, because an exact entry handles their packets"
    )
    traffic: str
    chains: PlannedChains
    proof: PlanProof


class PlanReport(PlanSummary):
    steps: list[PlannedStep]


def report_of(plan: Plan, profile: str) -> PlanReport:
    """Everything about a plan."""
    return PlanReport(
        profile=profile,
        flows=plan.flows,
        offered=plan.offered,
        worthwhile=plan.worthwhile,
        expected=PlanExpected(
            before=_expectation(plan.before),
            after=_expectation(plan.then),
            low=_expectation(plan.low),
            high=_expectation(plan.high),
            bandwidth_gain=plan.gain,
            latency_gain=plan.latency_gain,
        ),
        cost=PlanCost(**asdict(plan.cost)),
        hyper=HyperUse(
            capacity=plan.hyper_capacity,
            used=plan.hyper_used,
            masks=[_hyper(mask, side, plan.space) for side, direction in plan.directions.items() for mask in direction.hyper],
        ),
        entries_after=plan.entries_after,
        left_to_software=plan.left_to_software,
        released=plan.released,
        traffic=plan.traffic_basis,
        chains=PlannedChains(egress=_chain(plan.directions["egress"], plan.space), ingress=_chain(plan.directions["ingress"], plan.space)),
        proof=proof_of(plan.proof),
        steps=[_step(step, plan.space) for step in plan.steps],
    )


def plan_json(plan: Plan, profile: str) -> dict[str, Any]:
    """The report as JSON."""
    return report_of(plan, profile).model_dump()


def proof_json(compared: Comparison) -> dict[str, Any]:
    """The proof as JSON: `equivalent`, `verdict`, `counterexample` and of how much."""
    return proof_of(compared).model_dump()


def proof_of(compared: Comparison) -> PlanProof:
    """The proof of a comparison."""
    return PlanProof(
        equivalent=compared.proof.verdict == "equivalent",
        verdict=compared.proof.verdict,
        reason=compared.proof.reason,
        counterexample=None if compared.example is None else _example(compared.example),
        flows_before=compared.flows_before,
        flows_after=compared.flows_after,
        masks_before=compared.masks_before,
        masks_after=compared.masks_after,
        contested_pairs=compared.proof.contested,
        regions_searched=compared.proof.searched,
        opaque_fields=list(compared.opaque),
        took_ms=round(compared.took_ms, 3),
    )


def describe_mask(mask: int, space: HeaderSpace) -> str:
    """A mask in words: the fields it looks at, with the length of a prefix or the bits where it is not all of them.

    >>> from wallwatch.domain.masks.grammar import MatchParser
    >>> space = HeaderSpace()
    >>> _, mask = MatchParser(space).parse("in_port(1),eth_type(0x0800),ipv4(src=10.0.0.0/20,dst=10.0.0.1,tos=0/0xfc)")
    >>> describe_mask(mask, space)
    'eth_type ipv4.src/20 ipv4.dst ipv4.tos/0xfc'
    """
    found = []
    for path, kind in space.fields.items():
        bits = space.field_of(mask, path)
        if not bits or path in ("in_port", "tunnel", "recirc_id") or path.startswith("packet_type"):
            continue
        name = space.unknown.get(path, path)
        full = (1 << kind.width) - 1
        length = bits.bit_count()
        prefix = bits == full ^ (full >> length)
        found.append(name if bits == full else f"{name}/{length}" if prefix and kind.notation in ("ipv4", "ipv6") else f"{name}/{bits:#x}")
    return " ".join(found)


def _expectation(expected: Expected) -> PlanExpectation:
    return PlanExpectation(**asdict(expected))


def _step(step: Step, space: HeaderSpace) -> PlannedStep:
    return PlannedStep(
        phase=step.phase,
        operation="add-flow" if step.add else "del-flow",
        ufid=step.flow.ufid,
        match=text_of(step.flow, space),
        actions=step.flow.written,
        command=step.command(space),
    )


def _hyper(mask: HyperMask, side: str, space: HeaderSpace) -> HyperMaskUse:
    return HyperMaskUse(
        direction=side,
        recirc_id=mask.recirc_id,
        mask=describe_mask(mask.mask, space),
        length_bits=space.length_bits(mask.mask),
        present=len(mask.present),
        added=sum(not entry.known_before for entry in mask.entries),
        warmed=sum(entry.known_before for entry in mask.entries),
        evicted=len(mask.evicted),
        left_out=mask.left_out,
        without_exact_header=mask.uncovered,
        resting=mask.resting,
    )


def _chain(plan: DirectionPlan, space: HeaderSpace) -> PlannedChain:
    return PlannedChain(
        queries_before=plan.chain.queries,
        queries_after=plan.queries_after,
        before=[PlannedMask(**_mask(mask, at, space)) for at, mask in enumerate(plan.chain.masks)],
        after=[
            PlacedMask(**_mask(plan.cascading[index], at, space), hyper=index in plan.heads, moved=index in plan.order.moved)
            for at, index in enumerate((*plan.order.stay, *plan.order.moved))
        ],
        removed=[PlannedMask(**_mask(mask, mask.position, space)) for mask in plan.removed],
    )


def _mask(mask: ChainMask, position: int, space: HeaderSpace) -> dict[str, Any]:
    return {
        "position": position,
        "mask": describe_mask(mask.mask, space),
        "length_bits": mask.length_bits,
        "flows": len(mask.rows),
        "packets_60s": mask.packets,
        "score": mask.score,
    }


def _example(example: FoundExample) -> CounterExample:
    return CounterExample(
        packet=example.packet,
        before=TreatedAs(actions=example.before_actions, flow=_flow(example.before)),
        after=TreatedAs(actions=example.after_actions, flow=_flow(example.after)),
        order=example.reading,
        assumes=list(example.assumes),
    )


def _flow(flow: Flow | None) -> FlowOfExample | None:
    return None if flow is None else FlowOfExample(line=flow.line, ufid=flow.ufid, match=flow.match)


def after_text(plan: Plan) -> str:
    """The flows that the plan leads to, as a dump with the chain's order; counters are those of before, those of new entries zero."""
    return "".join(_line(flow, plan.space) for flow in plan.after)


def _line(flow: Flow, space: HeaderSpace) -> str:
    ufid = f"ufid:{flow.ufid}, " if flow.ufid else ""
    used = "never" if flow.used_s is None else f"{flow.used_s:.3f}s"
    counters = f"packets:{flow.packets}, bytes:{flow.bytes}, used:{used}, offloaded:yes, dp:tc"
    return f"{ufid}{text_of(flow, space)}, {counters}, actions:{flow.written}\n"
