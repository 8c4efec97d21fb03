"""A message of `wallwatch.findings` (docs/contracts.md), and the row that stores it."""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_validator, model_validator

from wallwatch.domain.telemetry.identities import OF_FINDINGS, Checked
from wallwatch_backend.incidents.models import IncidentFindingRow
from wallwatch_backend.incidents.schemas import Evidence, Hypothesis, RemedySuggestion
from wallwatch_backend.kit.text import HostName, PciAddress, SafeText, SymptomName

_names = Checked(OF_FINDINGS)


class Finding(BaseModel):
    """One symptom of one RNIC or host, as `classify` reports it."""

    model_config = ConfigDict(extra="ignore")

    finding_id: UUID
    host: HostName
    pci: PciAddress | Literal[""] = ""
    rack: SafeText = ""
    symptom: SymptomName
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
    remedies: list[RemedySuggestion] = Field(default_factory=list, max_length=50)
    received_at: AwareDatetime | None = Field(default=None, exclude=True)
    """When it was written to Kafka, by the broker's clock; not part of the message, and None if unknown."""

    @property
    def top(self) -> Hypothesis:
        """The most likely cause; only if there are hypotheses."""
        return max(self.hypotheses, key=lambda h: h.posterior)

    @field_validator("pci", "rack", "explanation", "model", "driver", "fw_ver", mode="before")
    @classmethod
    def _null_is_unknown(cls, value: object) -> object:
        return "" if value is None else value

    @model_validator(mode="after")
    def _names_have_their_form(self) -> "Finding":
        wrong = _names.wrong({name: getattr(self, name) for name in OF_FINDINGS})
        if wrong is not None:
            raise ValueError(wrong)
        return self


def dump(items: Sequence[BaseModel]) -> list[dict[str, Any]]:
    return [item.model_dump(mode="json", by_alias=True) for item in items]


def new_finding_row(finding: Finding) -> IncidentFindingRow:
    """Return the row of a new finding; the caller sets the incident that it belongs to."""
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
    update_row(row, finding)
    return row


def update_row(row: IncidentFindingRow, finding: Finding) -> None:
    """Store the newest message. A field that it leaves empty keeps its last value."""
    row.last_at = finding.at
    row.severity, row.blast_radius, row.rule = finding.severity, finding.blast_radius, finding.rule
    row.title, row.summary = finding.title, finding.summary
    for name in ("pci", "rack", "model", "driver", "fw_ver", "explanation"):
        setattr(row, name, getattr(finding, name) or getattr(row, name))
    row.evidence = dump(finding.evidence) or row.evidence
    row.remedies = dump(finding.remedies) or row.remedies
    if finding.hypotheses:
        row.hypotheses = dump(finding.hypotheses)
        row.cause, row.posterior = finding.top.cause, finding.top.posterior
