"""Requests and answers about candidate rules."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from wallwatch_backend.kit.text import Line
from wallwatch_backend.lab.rules.models import RuleState
from wallwatch_backend.lab.schemas_report import LabPermutation, LabThreshold, LabVerification


class RuleProposal(BaseModel):
    """Which cause of a campaign becomes a candidate rule."""

    cause: int = Field(description="Its id in the report")
    title: Line | None = Field(default=None, description="What findings of the rule are called; default: the state that the lab saw")


class RuleReview(BaseModel):
    """A decision on a rule, with its reason."""

    comment: Line


class RuleEvidence(BaseModel):
    """What the lab measured of the cause."""

    proven: bool
    confidence: float
    thresholds: list[LabThreshold]
    permutation: list[LabPermutation]
    verification: LabVerification | None


class LabRule(BaseModel):
    """A candidate rule, and what became of it."""

    id: UUID
    name: str = Field(description="Its name in findings, such as L3/1")
    title: str
    state: RuleState
    problem: str | None = Field(description="Why this version of Wallwatch cannot use the rule; null where it can")
    campaign_id: UUID | None = Field(description="Null after the campaign was deleted")
    cause: int = Field(description="Id of the cause in the campaign's report")
    cause_text: str
    device: str
    models: list[str] = Field(description="Profiles of the RNICs that it judges; none: all")
    not_checked: list[str] = Field(description="Conditions of the cause that no signal of an RNIC shows: the rule is wider than the cause")
    evidence: RuleEvidence
    yaml: str = Field(description="The rule in the form of the catalogue; empty where this version cannot read it")
    proposed_by: str
    proposed_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    comment: str | None


class LabRules(BaseModel):
    items: list[LabRule]
    next_cursor: None = Field(default=None, description="All rules are in one answer")
