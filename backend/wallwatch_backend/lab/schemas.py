"""Devices, campaigns and tests as the API shows them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from wallwatch_backend.kit.roles import Role
from wallwatch_backend.kit.text import Line
from wallwatch_backend.lab.schemas_report import LabReport
from wallwatch_backend.lab.states import CampaignState

Strategy = Literal["adaptive", "exhaustive", "random", "one-factor", "pairwise"]
DAY_S = 86_400


class SafeRangeInfo(BaseModel):
    low: int
    high: int


class DimensionInfo(BaseModel):
    """Something that the lab varies, from the catalogue."""

    id: str
    label: str
    component: str
    unit: str
    kind: str
    safe: SafeRangeInfo | None = Field(description="What may be set on a cordoned RNIC; null for what has no numbers")
    adaptors: list[str]
    why: str


class CauseDimensionsInfo(BaseModel):
    """The dimensions that a campaign varies to confirm a cause."""

    cause: str
    dimensions: list[str]


class LabCatalogue(BaseModel):
    dimensions: list[DimensionInfo]
    causes: list[CauseDimensionsInfo]


class LabParameter(BaseModel):
    """A parameter of a device, as its adaptor describes it."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    name: str
    kind: str = Field(description="choice, boolean, integer or sequence")
    component: str
    unit: str
    low: float | None = None
    high: float | None = None
    values: list[Any] = Field(default_factory=list, description="Of a choice or a sequence")
    dimension: str | None = Field(description="Of the catalogue; null for one that it does not know")
    causes: list[str] = Field(description="Causes that show in it")


class LabMetric(BaseModel):
    name: str
    unit: str
    better: str


class LabDevice(BaseModel):
    name: str
    description: str
    model: str | None = Field(description="RNIC model whose profile its thresholds belong to")
    host: str | None
    pci: str | None
    available: bool = Field(description="A runner offers it now, and it answers")
    problem: str | None = Field(description="Why it is not available")
    seen_at: datetime
    parameters: list[LabParameter]
    metrics: list[LabMetric]
    symptoms: list[str]
    has_topology: bool
    sequential: bool = Field(description="An earlier test may change later ones until a reset")
    seconds_per_test: float | None
    run_role: Role = Field(description="The least role that may test it (the permission lab:run)")
    needs_approval: bool = Field(description="A second person must approve each campaign on it")
    brute_force_tests: str = Field(description="Combinations of five levels per parameter; text, as it may have any number of digits")


class LabDevices(BaseModel):
    items: list[LabDevice]
    run_role: Role = Field(description="The least role that has the permission lab:run for devices outside the fleet")
    next_cursor: None = Field(default=None, description="All devices are in one answer")


class CampaignOptions(BaseModel):
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    budget: int = Field(default=1_000, ge=10, le=1_000_000, description="Most tests and resets")
    max_time_s: int = Field(default=4 * 3600, ge=10, le=7 * DAY_S)
    target: Annotated[str, Field(max_length=100)] | None = Field(
        default=None, description="A symptom or a metric of the device; null: whatever goes wrong"
    )
    seed: int = Field(default=1, ge=0, le=2**31 - 1)
    strategy: Strategy = "adaptive"
    parallel: int = Field(default=1, ge=1, le=16, description="Tests at the same time, for devices that allow it")
    parameters: list[Line] | None = Field(
        default=None, min_length=1, max_length=200, description="Only these are varied; the others keep their default. Null: all"
    )


class NewCampaign(CampaignOptions):
    device: Line
    incident_id: UUID | None = None


class LabProgress(BaseModel):
    """How far a campaign is."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    tests: int = Field(description="Tests and resets so far")
    resets: int = 0
    bad: int = Field(default=0, description="Tests with a symptom")
    errors: int = 0
    phase: str | None = None
    phases: dict[str, int] = Field(default_factory=dict)
    seconds: float = 0.0
    most_seconds_left: float | None = Field(default=None, description="Until budget or time are used up; it usually ends earlier")


class CampaignSummary(BaseModel):
    id: UUID
    device: str
    state: CampaignState
    options: CampaignOptions
    requested_by: str
    decided_by: str | None = Field(description="Who approved or rejected it; null for one that needs no approval, or waits for it")
    decided_at: datetime | None
    decision_comment: str | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    incident_id: UUID | None
    stopping: bool = Field(description="A stop was requested and the runner has not acted on it yet")
    silent: bool = Field(description="The runner has not reported for half a minute; another one continues the campaign")
    message: str | None
    progress: LabProgress
    brute_force_tests: str | None = Field(
        description="What trying every combination of the varied parameters would take; text, as it may have any number of digits"
    )
    causes: int | None = Field(description="Causes found; null before there is a report")
    complete: bool | None


class Campaign(CampaignSummary):
    runner: str | None
    report: LabReport | None
    report_problem: str | None = Field(description="Why the stored report cannot be shown")


class LabTest(BaseModel):
    """A line of the journal: one test, or one reset."""

    __test__ = False

    line: int
    kind: str
    n: int
    phase: str | None
    status: str
    attempt: int
    config: dict[str, Any]
    symptoms: list[str]
    metrics: dict[str, float]
    reason: str | None
    seconds: float | None


class CampaignApproval(BaseModel):
    """An approval, with an optional comment."""

    comment: Line | None = None


class CampaignRejection(BaseModel):
    reason: Line


class StopRequest(BaseModel):
    reason: Line | None = None


class CampaignsStopped(BaseModel):
    stopped: int = Field(description="Campaigns that are asked to stop")


class AttachRequest(BaseModel):
    incident_id: UUID | None = Field(default=None, description="Default: the incident that the campaign was started for")
    causes: list[int] = Field(default_factory=list, max_length=200, description="Ids of the report; none: all")


class Attached(BaseModel):
    incident_id: UUID
    text: str


class ProfileRequest(BaseModel):
    model: Annotated[str, Field(max_length=50)] | None = Field(default=None, description="Default: the model of the device")
    causes: list[int] = Field(default_factory=list, max_length=200, description="Ids of the report; none: all")


class WrittenProfile(BaseModel):
    """A new version of a profile. It is a candidate: an operator promotes it on the profile's page."""

    model: str
    number: int
    limits: dict[str, float]


class CampaignEventData(BaseModel):
    """What webhooks carry of a campaign that ended."""

    id: UUID
    device: str
    state: CampaignState
    requested_by: str
    incident_id: UUID | None
    created_at: datetime
    ended_at: datetime | None
    message: str | None
    tests: int
    brute_force_tests: str | None
    complete: bool | None
    causes: list[dict[str, Any]] = Field(description="Of each: symptom, metric, text, confidence and the recognised cause")
