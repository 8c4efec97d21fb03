"""What a plan says of itself: `wallwatch plan --json` without its steps (home: `wallwatch.domain.planning.plan_report`)."""

from typing import Literal

from pydantic import BaseModel, Field


class PlanExpectation(BaseModel):
    q_l: float | None
    q_r: float | None
    bandwidth_gbps: float | None
    latency_us: float | None


class PlanExpected(BaseModel):
    before: PlanExpectation
    after: PlanExpectation = Field(description="One minute after the flows were read")
    low: PlanExpectation | None = Field(
        default=None,
        description="Three minutes after: flows with entries are gone, others were added under the masks behind; null in old plans",
    )
    high: PlanExpectation | None = Field(default=None, description="While all flows with entries are active; null in old plans")
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
    resting: int = Field(default=0, description="Flows with traffic that are idle or new; they would lose an entry")


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
    hyper: bool = False
    moved: bool = False


class PlannedChain(BaseModel):
    queries_before: float | None
    queries_after: float | None
    before: list[PlannedMask]
    after: list[PlannedMask]
    removed: list[PlannedMask]


class PlannedChains(BaseModel):
    egress: PlannedChain
    ingress: PlannedChain


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
    reason: str = ""
    counterexample: CounterExample | None
    flows_before: int
    flows_after: int
    masks_before: int
    masks_after: int
    contested_pairs: int
    regions_searched: int
    opaque_fields: list[str]
    took_ms: float


class StepCounts(BaseModel):
    activate: int
    remove: int
    move: int


class PlanReport(BaseModel):
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
        default=0, description="Flows that are not added again when their mask is moved, because an exact entry handles their packets"
    )
    traffic: str
    chains: PlannedChains
    steps: StepCounts
    proof: PlanProof
