"""Incidents: what comes out. Evidence and hypotheses keep the form in which `classify` sent them (docs/contracts.md)."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from wallwatch_backend.kit.text import Paragraph


class IncidentState(StrEnum):
    open = "open"
    acknowledged = "acknowledged"
    resolved = "resolved"


Severity = Literal["warning", "critical"]


class Evidence(BaseModel):
    """One observation: which signal had which value when, against what was expected."""

    model_config = ConfigDict(populate_by_name=True)

    signal: str
    label: str
    unit: str
    since: datetime | None = Field(default=None, alias="from", serialization_alias="from")
    until: datetime | None = Field(default=None, alias="to", serialization_alias="to")
    value: float | str | None = None
    expected: str | None = None
    text: str


class Hypothesis(BaseModel):
    """A cause and how likely it is after the evidence."""

    cause: str
    title: str
    prior: float
    posterior: float
    evidence_for: list[Evidence]
    evidence_against: list[Evidence]
    next_test: str | None = None


class SuggestedRemedy(BaseModel):
    action: str
    params: dict[str, Any]
    why: str


class TimelineEntry(BaseModel):
    at: datetime
    kind: str = Field(description="opened, updated, reopened, cleared, acknowledged, resolved, comment, remedy")
    actor: str
    text: str


class IncidentSummary(BaseModel):
    id: UUID
    host: str
    pci: str
    rack: str | None
    symptom: str
    state: IncidentState
    severity: Severity
    blast_radius: str
    title: str
    summary: str
    opened_at: datetime
    updated_at: datetime
    acknowledged_by: str | None
    acknowledged_at: datetime | None
    resolved_at: datetime | None
    active: bool = Field(description="The symptom is present now, as far as telemetry says")
    top_cause: str | None = Field(description="The cause with the highest posterior")


class Incident(IncidentSummary):
    rule: str
    finding_id: UUID
    reopened: int = Field(description="How often the symptom came back")
    evidence: list[Evidence]
    hypotheses: list[Hypothesis] = Field(description="Most likely first")
    remedies: list[SuggestedRemedy]
    remedy_ids: list[UUID] = Field(description="Remedies that were ordered for this incident, oldest first")
    timeline: list[TimelineEntry]


class NewComment(BaseModel):
    text: Paragraph
