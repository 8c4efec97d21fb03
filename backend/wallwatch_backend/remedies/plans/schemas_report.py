"""What a plan says of itself, as stored: `wallwatch plan --json` without its steps, of which only the number is kept.

`wallwatch.domain.planning.plan_report` defines it; fields that it got later have a default here, for reports from before.
"""

from pydantic import BaseModel, Field

from wallwatch.domain.planning import plan_report
from wallwatch.domain.planning.plan_report import PlanCost, PlanExpectation


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


class HyperMaskUse(plan_report.HyperMaskUse):
    resting: int = Field(default=0, description="Flows with traffic that are idle or new; they would lose an entry")


class HyperUse(BaseModel):
    capacity: int
    used: int
    masks: list[HyperMaskUse]


class PlannedMask(plan_report.PlannedMask):
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


class PlanProof(plan_report.PlanProof):
    reason: str = ""


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
