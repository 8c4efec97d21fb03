"""Incidents: what comes out. Evidence and hypotheses keep the form in which `classify` sent them (docs/contracts.md)."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from wallwatch_backend.incidents.upgrades import Upgrade
from wallwatch_backend.kit.text import Line, StorableText


class IncidentState(StrEnum):
    """Unresolved are all but `resolved`."""

    open = "open"
    acknowledged = "acknowledged"
    suppressed = "suppressed"
    reopened = "reopened"
    resolved = "resolved"


class Scope(StrEnum):
    """How far an incident reaches."""

    rnic = "rnic"
    host = "host"
    rack = "rack"
    fleet = "fleet"


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
    kind: str = Field(
        description="opened, symptom, updated, cleared, reopened, resolved, acknowledged, unacknowledged, assigned, ticket, comment, "
        "remedy, silenced, unsilenced, inhibited, uninhibited, merged, split; verdict and forecast are to come"
    )
    actor: str
    text: str
    data: dict[str, Any] = Field(default_factory=dict, description="What the entry is about, such as `finding_id` or `incident_id`")


class ExternalRef(BaseModel):
    """A ticket in another system."""

    system: Line = Field(description="Such as jira or servicenow")
    key: Line = Field(description="The ticket's key there")
    url: Annotated[str, StringConstraints(max_length=2000, pattern=r"^https?://[^\s]+$"), StorableText] | None = None


class IncidentSummary(BaseModel):
    id: UUID
    host: str = Field(description="Of the leading finding, as pci, rack, symptom, title, summary, model and fw_ver")
    pci: str = Field(description="Empty when the finding concerns a host and names no RNIC")
    rack: str | None
    symptom: str
    state: IncidentState
    severity: Severity
    blast_radius: str
    title: str
    summary: str
    opened_at: datetime
    updated_at: datetime = Field(description="Last change that a person would act on; fresher evidence alone is none")
    acknowledged_by: str | None
    acknowledged_at: datetime | None
    resolved_by: str | None
    resolved_at: datetime | None
    reopened: int = Field(description="How often it was reopened")
    active: bool = Field(description="A symptom is present now, as far as telemetry says")
    over_since: datetime | None = Field(description="When the last symptom ended; null while one is active")
    top_cause: str | None = Field(description="The cause with the highest posterior (the same as `cause`)")
    cause: str | None
    scope: Scope
    subject: str = Field(description="What it is about: an RNIC, a host, a rack or a firmware")
    symptoms: list[str]
    hosts: list[str]
    rnics: int = Field(description="Number of RNICs that its findings name")
    model: str | None
    fw_ver: str | None
    assignee: str | None
    external_refs: list[ExternalRef]
    suppressed_by: UUID | None = Field(description="The silence that suppresses it")
    inhibited_by: UUID | None = Field(
        description="The remedy that brought about all that it shows, so that it is suppressed; null once it is raised in earnest"
    )
    merged_into: UUID | None = Field(description="The incident that has taken this one's findings; null otherwise")
    version: int = Field(description="The ETag's number")
    seq: int = Field(description="Its place in the change feed")


class IncidentFinding(BaseModel):
    """A finding that belongs to the incident."""

    finding_id: UUID
    host: str
    pci: str
    rack: str
    model: str
    driver: str
    fw_ver: str
    symptom: str
    state: Literal["active", "cleared"]
    started_at: datetime
    last_at: datetime
    cleared_at: datetime | None
    severity: Severity
    cause: str | None
    title: str
    summary: str
    explanation: str
    inhibited: bool = Field(
        description="A consequence of a crashed or silent host, or of a remedy of one's own (`inhibited_by`): nobody was notified of it"
    )
    inhibited_by: UUID | None = Field(
        description="The remedy during which it began, one that may bring it about; with `inhibited` false, it has outlasted it"
    )
    evidence: list[Evidence]
    hypotheses: list[Hypothesis] = Field(description="Most likely first")
    remedies: list[SuggestedRemedy]


class Incident(IncidentSummary):
    rule: str
    finding_id: UUID = Field(description="The leading finding")
    explanation: str = Field(description="Sentences for a ticket")
    evidence: list[Evidence] = Field(description="Of the leading finding")
    hypotheses: list[Hypothesis] = Field(description="Of the leading finding, most likely first")
    remedies: list[SuggestedRemedy]
    upgrade: Upgrade | None = Field(
        default=None, description="What to put into a ticket; null where no upgrade is known to settle the cause"
    )
    remedy_ids: list[UUID] = Field(description="Remedies that were ordered for this incident, oldest first")
    findings: list[IncidentFinding] = Field(description="The leading finding first, then active ones, then by their beginning")
    merged: list[UUID] = Field(description="Incidents that were merged into this one")
    timeline: list[TimelineEntry] = Field(description="Oldest first, with that of merged incidents")
