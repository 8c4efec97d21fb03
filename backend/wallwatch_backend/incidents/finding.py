"""A message of `wallwatch.findings` (docs/contracts.md), and the row that keeps what it says."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_validator

from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.incidents.schemas import Evidence, Hypothesis, SuggestedRemedy
from wallwatch_backend.kit.text import HostName, PciAddress, SafeText


class Finding(BaseModel):
    """What `classify` says of one symptom of one RNIC or host."""

    model_config = ConfigDict(extra="ignore")

    finding_id: UUID
    host: HostName
    pci: PciAddress | Literal[""] = ""
    rack: SafeText = ""
    symptom: str = Field(pattern=r"^(S[1-8]|unexplained|silent)$")
    state: Literal["active", "cleared"]
    started_at: AwareDatetime
    at: AwareDatetime
    severity: Literal["warning", "critical"]
    blast_radius: Literal["flows", "rnic", "host"]
    rule: SafeText
    title: SafeText
    summary: SafeText
    explanation: SafeText = ""
    model: SafeText = ""
    driver: SafeText = ""
    fw_ver: SafeText = ""
    evidence: list[Evidence] = Field(default_factory=list, max_length=200)
    hypotheses: list[Hypothesis] = Field(default_factory=list, max_length=50)
    remedies: list[SuggestedRemedy] = Field(default_factory=list, max_length=50)
    heard_at: AwareDatetime | None = Field(default=None, exclude=True)
    """When it was written to Kafka, by the centre's clock; no part of the message, and None where that is not known."""

    @property
    def top(self) -> Hypothesis:
        """The most likely cause, when there are any."""
        return max(self.hypotheses, key=lambda h: h.posterior)

    @field_validator("pci", "rack", "explanation", "model", "driver", "fw_ver", mode="before")
    @classmethod
    def _null_is_unknown(cls, value: object) -> object:
        return "" if value is None else value


def dump(items: Sequence[BaseModel]) -> list[dict[str, Any]]:
    return [item.model_dump(mode="json", by_alias=True) for item in items]


def new_member(finding: Finding) -> IncidentFindingRow:
    """The row of a finding that is new; the caller says which incident it belongs to."""
    row = IncidentFindingRow(
        finding_id=finding.finding_id,
        host=finding.host,
        pci=finding.pci,
        symptom=finding.symptom,
        started_at=finding.started_at,
        rack="",
        model="",
        driver="",
        fw_ver="",
        explanation="",
        inhibited=False,
        inhibited_by=None,
        inhibited_at=None,
        evidence=[],
        hypotheses=[],
        remedies=[],
    )
    take_over(row, finding)
    return row


def take_over(row: IncidentFindingRow, finding: Finding) -> None:
    """Keep the newest message. What it leaves empty says nothing new, so the last that said something stays."""
    row.last_at = finding.at
    row.severity, row.blast_radius, row.rule = finding.severity, finding.blast_radius, finding.rule
    row.title, row.summary = finding.title, finding.summary
    for name in ("rack", "model", "driver", "fw_ver", "explanation"):
        setattr(row, name, getattr(finding, name) or getattr(row, name))
    row.evidence = dump(finding.evidence) or row.evidence
    row.remedies = dump(finding.remedies) or row.remedies
    if finding.hypotheses:
        row.hypotheses = dump(finding.hypotheses)
        row.cause, row.posterior = finding.top.cause, finding.top.posterior


def new_incident(lead: Any, at: datetime) -> IncidentRow:
    """An incident that begins with one finding (a row of it, or its light columns); settling says the rest from all its findings."""
    return IncidentRow(
        id=uuid4(),
        host=lead.host,
        pci=lead.pci,
        symptom=lead.symptom,
        state="open",
        severity=lead.severity,
        blast_radius=lead.blast_radius,
        title=lead.title,
        summary=lead.summary,
        finding_id=lead.finding_id,
        active=True,  # settling says whether it is over
        opened_at=lead.started_at,
        created_at=at,
        updated_at=at,
        reopened=0,
        apart=False,
        version=0,
        external_refs=[],
        symptoms=[],
        hosts=[],
    )
