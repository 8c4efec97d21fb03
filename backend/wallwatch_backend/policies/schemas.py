"""Policies: what they say, their versions, their state."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from wallwatch_backend.kit.text import Line, StorableText

PolicyName = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{1,63}$"), Field(description="Lower case letters, digits and dashes")
]
Subject = Literal["flow", "vf", "rnic", "host", "command", "address"]
PropositionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=100), StorableText]
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=300, strip_whitespace=True), StorableText]
Formula = Annotated[str, StringConstraints(max_length=2000), StorableText]


class Binding(BaseModel):
    """A proposition holds in the step of an event of one of these kinds whose fields have these values."""

    kind: list[Word] = Field(min_length=1, max_length=40)
    when: dict[Word, str | int | bool] = Field(default_factory=dict, max_length=10)


class Timer(BaseModel):
    """`name` holds `seconds` after an event that sets `after`, unless one that sets `unless` came before."""

    name: PropositionName
    after: PropositionName
    unless: PropositionName | None = None
    seconds: float = Field(gt=0, le=86_400)


class Bindings(BaseModel):
    """What a formula is about."""

    formula: Formula
    subject: Subject = "rnic"
    propositions: dict[PropositionName, Binding] = Field(default_factory=dict, max_length=12)
    timer: Timer | None = None


class Definition(Bindings):
    """What a policy says. Policies on addresses run at the centre, which sees all hosts; all others on their hosts."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True), StorableText]
    severity: Literal["warning", "critical"] = "warning"
    symptoms: list[Annotated[str, StringConstraints(pattern=r"^S[1-8]$")]] = Field(default_factory=list, max_length=8)
    causes: list[Annotated[str, StringConstraints(pattern=r"^C[1-8]$")]] = Field(default_factory=list, max_length=8)
    violation: Sentence = Field(description="What a violation means, as people read it")
    note: Sentence | None = Field(default=None, description="What the policy cannot see")


class NewPolicy(Definition):
    id: PolicyName


class PolicyChange(Definition):
    """The whole definition as it shall be. What was enabled stays as it is: the change is a draft until it is enabled."""

    message: Line | None = Field(default=None, description="Why; kept with the version")


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
    own: bool = Field(description="Made by operators; false for a policy of the catalogue")
    lifecycle: Lifecycle
    has_draft: bool = Field(description="There is a version that was never enabled")
    running: int | None = Field(description="The version that is enabled; 0 for a policy of the catalogue")
    subject: Subject
    where: Literal["edge", "centre"]
    formula: str
    severity: Literal["warning", "critical"]
    symptoms: list[str]
    causes: list[str]
    state: PolicyState = Field(
        description="violated: in the last hour; unknown: not, but lost events leave some subjects open, or nothing is heard; "
        "holding: subjects are watched and all known; idle: nothing to watch; off: not enabled"
    )
    subjects: int = Field(description="Subjects that are watched now")
    unknown: int = Field(description="Of them those whose state is not known")
    coverage: float | None = Field(description="Share of the subjects whose state is known; null while there are none")
    hosts: int = Field(description="Hosts that report on it")
    violations_1h: int
    violations_24h: int
    inhibited_24h: int = Field(
        description="Violations of the last day that remedies of one's own have brought about; the others leave them out"
    )
    recent: list[int] = Field(description="Violations in each of the last 24 hours, oldest first")
    last_violation_at: datetime | None
    heard_at: datetime | None = Field(description="The newest report on it")


class PolicyVersion(BaseModel):
    number: int
    definition: Definition
    note: str
    saved_by: str
    saved_at: datetime
    enabled_by: str | None
    enabled_at: datetime | None = Field(description="When it was enabled first; null for a draft")
    agents: int = Field(description="Agents that run this version")


class HistoryEntry(BaseModel):
    at: datetime
    actor: str
    action: str
    detail: dict[str, object]


class Policy(PolicySummary):
    version: int = Field(description="Of the record, as in its ETag")
    definition: Definition = Field(description="What is enabled, or else the newest version")
    draft: PolicyVersion | None
    versions: list[PolicyVersion] = Field(description="Newest first; none for a policy of the catalogue")
    history: list[HistoryEntry] = Field(description="Who did what with it, newest first")
    source: str
    agents_running: int = Field(description="Agents that run the enabled version")
    agents_expected: int = Field(description="Agents that take policies")
