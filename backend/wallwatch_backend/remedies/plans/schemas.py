"""Mask plans as the API shows them."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field

from wallwatch.domain.planning.plan_report import CounterExample
from wallwatch_backend.kit.text import HostName, PciAddress
from wallwatch_backend.remedies.plans.schemas_report import PlanReport
from wallwatch_backend.remedies.plans.states import PlanState

PlanTrigger = Literal["manual", "forecast", "policy"]
Then = Literal["nothing", "dry_run", "propose"]


class NewPlan(BaseModel):
    host: HostName
    pci: PciAddress
    incident_id: UUID | None = None
    then: Then = Field(
        default="nothing", description="What follows when the plan is proven and worthwhile (gains 5% of bandwidth or latency)"
    )
    hyper_capacity: int | None = Field(
        default=None, ge=0, le=1_000_000, description="Entries of the hyper mask; by default the profile's limit of flows"
    )


class PlanPort(BaseModel):
    """A port of the datapath that belongs to the RNIC."""

    number: str
    name: str


class PlanProgress(BaseModel):
    operation: Literal["apply", "undo"]
    done: int
    total: int
    at: datetime


class PlanCheck(BaseModel):
    """The proof repeated on the flows that the switch had after the plan was applied or undone."""

    state: Literal["waiting", "equivalent", "different", "not_checked"]
    operation: Literal["apply", "undo"]
    at: datetime
    message: str
    counterexample: CounterExample | None = None
    flows_before: int | None = None
    flows_after: int | None = None
    missing: int | None = Field(
        default=None, description="Earlier flows that are gone; their packets go through software until the flows return"
    )
    fresh: int | None = Field(default=None, description="Flows that Open vSwitch has installed since")
    entries: int | None = Field(default=None, description="Exact entries of the plan that are present")


class Compared(BaseModel):
    before: float | None
    expected: float | None
    measured: float | None


class PlanOutcome(BaseModel):
    """Predicted vs. measured, as means over the minute before and the newest minute since."""

    since: datetime
    until: datetime | None
    q_l: Compared
    q_r: Compared = Field(description="The RNIC's own ingress chain, which its peers' packets traverse")
    bandwidth_gbps: Compared = Field(description="`expected` is what the RNIC can reach, the others what it sent")


class PlanSummary(BaseModel):
    id: UUID
    host: str
    pci: str
    model: str
    state: PlanState
    offered: bool = Field(description="It can be applied now: proven, not empty, not expired, not applied before")
    worthwhile: bool = Field(description="It is predicted to gain at least 5% of bandwidth or latency")
    trigger: PlanTrigger
    then: Then
    requested_by: str
    incident_id: UUID | None
    created_at: datetime
    updated_at: datetime
    flows_at: datetime | None = Field(description="When the host's flows were read")
    expires_at: datetime | None
    code: str | None = Field(description="Why it failed, or is not offered")
    message: str | None
    bandwidth_gain: float | None
    latency_gain: float | None
    applied_by: UUID | None = Field(description="The remedy that applied it, or is about to")


class Plan(PlanSummary):
    ports: list[PlanPort]
    flows_sha256: str | None
    operations_sha256: str | None
    report: PlanReport | None
    remedies: list[UUID] = Field(description="Its dry runs and applies, newest first")
    progress: PlanProgress | None
    check: PlanCheck | None
    outcome: PlanOutcome | None
