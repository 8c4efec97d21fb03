"""Remedies: the catalogue of actions, orders, and how they went."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from wallwatch_backend.kit.text import HostName, Line, PciAddress


class RemedyState(StrEnum):
    proposed = "proposed"
    rejected = "rejected"
    pending = "pending"
    dispatched = "dispatched"
    planned = "planned"
    applied = "applied"
    verified = "verified"
    not_verified = "not_verified"
    failed = "failed"
    refused = "refused"
    expired = "expired"
    undone = "undone"


Mode = Literal["dry_run", "apply"]
Operation = Literal["dry_run", "apply", "undo"]


class ParamInfo(BaseModel):
    name: str
    label: str
    type: Literal["integer", "text"]
    unit: str | None
    minimum: int | None
    maximum: int | None
    max_length: int | None
    pattern: str | None
    required: bool
    meaning: str


class VerificationInfo(BaseModel):
    signal: str
    label: str
    unit: str
    expected: str
    within_s: int = Field(description="Seconds in which the signal must have become as expected")
    for_s: int = Field(description="Seconds for which it must stay so")
    text: str


class DisturbanceInfo(BaseModel):
    """What an action brings about by itself: findings that begin while it or its undo runs, or settles, are inhibited."""

    symptoms: list[str]
    policies_of: list[str] = Field(description="Policies on these subjects may be violated by it")
    settle_s: int = Field(description="How long after its end they may begin, and are given to end before they are raised")
    why: str


class RemedyAction(BaseModel):
    """A remedy that agents can carry out."""

    action: str
    title: str
    description: str
    scope: Literal["host", "rnic"]
    params: list[ParamInfo]
    at_least_one: list[str] = Field(description="Of these parameters at least one must be given")
    risk: Literal["low", "medium", "high"]
    risk_text: str
    needs_approval: bool = Field(description="Applying it waits for a second person, by its risk and this installation's setting")
    undo: str
    reversible: bool = Field(description="False where nothing can be taken back; `undo` says why")
    operations: str = Field(description="What it touches on the host")
    privileges: str = Field(description="What the agent needs on the host for it")
    verification: VerificationInfo
    symptoms: list[str]
    disturbs: DisturbanceInfo | None = Field(description="What it brings about by itself; null where nothing is inhibited for it")


class HostOperation(BaseModel):
    """One thing that the agent does, or would do, on the host."""

    target: str
    operation: str
    before: Any = None
    after: Any = None
    text: str = ""


class NewRemedy(BaseModel):
    action: str = Field(min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9-]*$")
    host: HostName
    pci: PciAddress | None = Field(default=None, description="The RNIC that is to recover; needed for actions on an RNIC")
    params: dict[str, Any] = Field(default_factory=dict)
    incident_id: UUID | None = None
    mode: Mode
    propose: bool = Field(default=False, description="Wait for a second person's approval, also where the risk does not ask for it")


class Decision(BaseModel):
    """Why a proposed remedy is rejected or withdrawn."""

    reason: Line


class Approval(BaseModel):
    """What whoever approves wants to be remembered."""

    comment: Line | None = None


class Verification(BaseModel):
    """How telemetry judges the remedy."""

    signal: str
    label: str
    unit: str
    expected: str
    for_s: int
    measured: float | None = Field(description="Newest value since the remedy was applied; null when none came")
    measured_at: datetime | None
    deadline: datetime


class Command(BaseModel):
    """One order that was sent, or is to be sent, to the agent."""

    command_id: UUID
    operation: Operation
    state: Literal["pending", "dispatched", "done", "failed", "refused", "expired"]
    code: str | None
    message: str | None
    issued_at: datetime
    expires_at: datetime
    finished_at: datetime | None


class InhibitedFinding(BaseModel):
    """A finding that began while a remedy ran that may bring it about."""

    finding_id: UUID
    incident_id: UUID
    host: str
    pci: str
    symptom: str
    title: str
    started_at: datetime
    cleared_at: datetime | None = Field(description="Null while it lasts")
    inhibited: bool = Field(description="False once it has outlasted the remedy and was raised")


class Remedy(BaseModel):
    id: UUID
    action: str
    host: str
    pci: str | None
    params: dict[str, Any]
    mode: Mode
    state: RemedyState
    incident_id: UUID | None
    rollout_id: UUID | None
    requested_by: str
    decided_by: str | None = Field(description="Who approved or rejected it; null where nobody had to")
    decided_at: datetime | None
    decision_comment: str | None = Field(description="What who decided had to say: a comment on the approval, or why it was rejected")
    created_at: datetime
    updated_at: datetime
    code: str | None = Field(description="Why it was refused or failed")
    message: str | None
    operations: list[HostOperation]
    verification: Verification | None
    undoable: bool = Field(description="POST .../undo would be accepted")
    undo_state: Literal["pending", "dispatched", "failed", "refused", "expired"] | None = Field(
        description="How the newest undo goes; null when none was asked for or it is done"
    )
    inhibited: list[InhibitedFinding] = Field(
        description="Findings that began while it, or its undo, ran or settled, as its own doing; oldest first"
    )
    commands: list[Command]
