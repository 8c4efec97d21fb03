"""Policies: definition, versions, state."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from wallwatch_backend.kit.text import Line
from wallwatch_backend.policies.formulas.schemas import Definition, Subject

PolicyName = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{1,63}$"), Field(description="Lower case letters, digits and dashes")
]


class NewPolicy(Definition):
    id: PolicyName


class PolicyChange(Definition):
    """The whole new definition. An enabled version never changes: the change is a draft until it is enabled."""

    message: Line | None = Field(default=None, description="Why; stored with the version")


class Lifecycle(StrEnum):
    draft = "draft"
    enabled = "enabled"
    disabled = "disabled"


class PolicyState(StrEnum):
    violated = "violated"
    unknown = "unknown"
    holding = "holding"
    idle = "idle"
    off = "off"


class PolicySummary(BaseModel):
    id: str
    title: str
    own: bool = Field(description="Created by operators; false for a policy of the catalogue")
    lifecycle: Lifecycle
    has_draft: bool = Field(description="There is a version that was never enabled")
    running: int | None = Field(description="The version that is enabled; 0 for a policy of the catalogue")
    subject: Subject
    where: Literal["edge", "server"]
    formula: str
    severity: Literal["warning", "critical"]
    symptoms: list[str]
    causes: list[str]
    state: PolicyState = Field(
        description="violated: in the last hour; unknown: not violated, but events were lost or there is no report; "
        "holding: the state of all subjects is known; idle: no subjects; off: not enabled"
    )
    subjects: int = Field(description="Subjects that are watched now")
    unknown: int = Field(description="Of these, subjects whose state is unknown")
    coverage: float | None = Field(description="Share of the subjects whose state is known; null while there are no subjects")
    hosts: int = Field(description="Hosts that report on it")
    violations_1h: int
    violations_24h: int
    inhibited_24h: int = Field(description="Violations of the last day that Wallwatch's remedies caused; not in the other counts")
    recent: list[int] = Field(description="Violations in each of the last 24 hours, oldest first")
    last_violation_at: datetime | None
    heard_at: datetime | None = Field(description="Time of the newest report")


class PolicyVersion(BaseModel):
    number: int
    definition: Definition
    note: str
    saved_by: str
    saved_at: datetime
    enabled_by: str | None
    enabled_at: datetime | None = Field(description="When it was first enabled; null for a draft")
    agents: int = Field(description="Agents that run this version")


class HistoryEntry(BaseModel):
    at: datetime
    actor: str
    action: str
    detail: dict[str, object]


class Policy(PolicySummary):
    version: int = Field(description="Version of the record, as in its ETag")
    definition: Definition = Field(description="The enabled version, or else the newest")
    draft: PolicyVersion | None
    versions: list[PolicyVersion] = Field(description="Newest first; empty for a policy of the catalogue")
    history: list[HistoryEntry] = Field(description="Changes with their authors, newest first")
    source: str
    agents_running: int = Field(description="Agents that run the enabled version")
    agents_expected: int = Field(description="Agents that accept policies")
