"""Incidents as the API and webhooks send them. Evidence and hypotheses keep the form of `classify` (docs/contracts.md)."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.incidents.upgrades import Upgrade
from wallwatch_backend.kit.text import Line, StorableText


class Scope(StrEnum):
    """How far an incident reaches."""

    rnic = "rnic"
    host = "host"
    rack = "rack"
    fleet = "fleet"


Severity = Literal["warning", "critical"]


class Evidence(BaseModel):
    """One observation: the value of a signal in an interval, with what is expected, or for a cause with the test that supports it."""

    model_config = ConfigDict(populate_by_name=True)

    signal: str
    label: str
    unit: str
    since: datetime | None = Field(default=None, alias="from", serialization_alias="from")
    until: datetime | None = Field(default=None, alias="to", serialization_alias="to")
    value: float | str | None = None
    expected: str | None = Field(default=None, description="What a healthy RNIC shows; null in the evidence of a cause")
    test: str | None = Field(
        default=None, description="The bound that supports the cause where it is met; null in the evidence of a symptom"
    )
    text: str


class Hypothesis(BaseModel):
    """A cause and its probability before (prior) and after (posterior) the evidence."""

    cause: str
    title: str
    prior: float
    posterior: float
    evidence_for: list[Evidence]
    evidence_against: list[Evidence]
    next_test: str | None = None


class RemedySuggestion(BaseModel):
    """A remedy as a finding suggests it."""

    action: str
    params: dict[str, Any]
    why: str
    derivations: dict[str, str] = Field(default_factory=dict, description="Of each measured parameter, how it follows")


class NewestValues(BaseModel):
    """What deriving again would recommend."""

    params: dict[str, Any]
    derivations: dict[str, str]


class SuggestedRemedy(RemedySuggestion):
    """A remedy as its incident suggests it: measured values are those first derived, until somebody derives them again."""

    derived_at: datetime | None = Field(default=None, description="When its measured values were derived; null where it has none")
    newest: NewestValues | None = Field(default=None, description="What deriving again would give; null where that is the same")


class TimelineEntry(BaseModel):
    at: datetime
    kind: str = Field(
        description="opened, symptom, updated, cleared, reopened, resolved, acknowledged, unacknowledged, assigned, ticket, comment, "
        "remedy, lab, capture, derived, silenced, unsilenced, inhibited, uninhibited, merged, split, node (what NVSentinel says); "
        "verdict and forecast are reserved"
    )
    actor: str
    text: str
    data: dict[str, Any] = Field(default_factory=dict, description="Ids that the entry refers to, such as `finding_id` or `incident_id`")


class ExternalRef(BaseModel):
    """A ticket in another system."""

    system: Line = Field(description="Such as jira or servicenow")
    key: Line = Field(description="The ticket's key in that system")
    url: Annotated[str, StringConstraints(max_length=2000, pattern=r"^https?://[^\s]+$"), StorableText] | None = None


class IncidentSummary(BaseModel):
    id: UUID
    host: str = Field(description="Of the leading finding; so are pci, rack, symptom, summary, model and fw_ver")
    pci: str = Field(description="Empty if the finding concerns a host and names no RNIC")
    rack: str | None
    symptom: str
    state: IncidentState
    severity: Severity
    blast_radius: str
    title: str = Field(description="Of the finding that opened it; it never changes, so that it can be quoted")
    summary: str
    opened_at: datetime
    updated_at: datetime = Field(description="Last change that a person may act on; fresher evidence alone does not count")
    acknowledged_by: str | None
    acknowledged_at: datetime | None
    resolved_by: str | None
    resolved_at: datetime | None
    reopened: int = Field(description="How often it was reopened")
    active: bool = Field(description="Telemetry shows a symptom now")
    cleared_at: datetime | None = Field(description="When the last symptom cleared; null while one is active")
    top_cause: str | None = Field(description="The cause with the highest posterior (same as `cause`)")
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
        description="The remedy that caused all its findings, so that it is suppressed; null once a finding counts"
    )
    merged_into: UUID | None = Field(description="The incident that has its findings since a merge; null if it was not merged")
    version: int = Field(description="The ETag's number")
    seq: int = Field(description="Its position in the change feed")


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
    inhibited: bool = Field(description="Caused by a crashed or silent host, or by a remedy (`inhibited_by`): no notification was sent")
    inhibited_by: UUID | None = Field(
        description="The remedy during which it started and that may have caused it; if `inhibited` is false, it outlasted the remedy"
    )
    evidence: list[Evidence]
    hypotheses: list[Hypothesis] = Field(description="Most likely first")
    remedies: list[RemedySuggestion]


class Incident(IncidentSummary):
    rule: str
    finding_id: UUID = Field(description="The leading finding")
    explanation: str = Field(description="Its whole life in sentences, for a ticket or a post-mortem")
    evidence: list[Evidence] = Field(description="Of the leading finding")
    hypotheses: list[Hypothesis] = Field(description="Of the leading finding, most likely first")
    remedies: list[SuggestedRemedy] = Field(
        description="Of its findings on the leading finding's RNIC, in the order in which they are offered: what the likely cause asks "
        "for first, what only contains the damage last"
    )
    upgrade: Upgrade | None = Field(default=None, description="Text for a ticket; null if no upgrade is known to fix the cause")
    remedy_ids: list[UUID] = Field(description="Remedies requested for this incident, oldest first")
    findings: list[IncidentFinding] = Field(description="The leading finding first, then active ones, then by start time")
    merged: list[UUID] = Field(description="Incidents that were merged into this one")
    timeline: list[TimelineEntry] = Field(description="Oldest first, including entries of merged incidents")
