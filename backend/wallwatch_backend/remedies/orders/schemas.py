"""Remedies: the catalogue of actions, requests, and what came of them."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from wallwatch_backend.kit.text import HostName, Line, PciAddress
from wallwatch_backend.remedies.states import CommandState, RemedyState

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


class CheckInfo(BaseModel):
    """A signal that must reach a value, and stay there."""

    signal: str
    label: str
    unit: str
    expected: str
    within_s: int = Field(description="Seconds within which the signal must reach the expected value")
    for_s: int = Field(description="Seconds for which it must stay there")
    text: str


class CureInfo(CheckInfo):
    """The signal that decides whether the remedy cured a symptom."""

    symptom: str


class DisturbanceInfo(BaseModel):
    """Side effects of an action: findings that begin while it or its undo runs, or settles, are inhibited."""

    symptoms: list[str]
    policies_of: list[str] = Field(description="It may violate policies on these subjects")
    settle_s: int = Field(description="How long after its end they may begin, and how long they may take to clear before they are raised")
    why: str


class RemedyAction(BaseModel):
    """A remedy that agents can carry out."""

    action: str
    title: str
    description: str
    scope: Literal["host", "rnic"]
    params: list[ParamInfo]
    at_least_one: list[str] = Field(description="At least one of these parameters is required")
    risk: Literal["low", "medium", "high"]
    risk_text: str
    needs_approval: bool = Field(description="Applying it requires a second person's approval, by its risk and this installation's setting")
    undo: str
    reversible: bool = Field(description="False where nothing can be undone; `undo` says why")
    operations: str = Field(description="What it changes on the host")
    privileges: str = Field(description="Privileges that the agent needs on the host")
    change: CheckInfo = Field(description="What shows that the host has the change; it never says that the change helped")
    cures: list[CureInfo] = Field(
        description="By symptom, what its signal must show before the remedy is confirmed; empty where only the change can be confirmed"
    )
    symptoms: list[str]
    disturbs: DisturbanceInfo | None = Field(description="Its side effects; null where nothing is inhibited for it")


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
    pci: PciAddress | None = Field(default=None, description="The RNIC to recover; required for actions with scope rnic")
    params: dict[str, Any] = Field(default_factory=dict)
    incident_id: UUID | None = None
    mode: Mode
    propose: bool = Field(default=False, description="Wait for a second person's approval even if the risk does not require it")


class Decision(BaseModel):
    """Why a pending remedy is rejected or withdrawn."""

    reason: Line


class Approval(BaseModel):
    """An approval, with an optional comment."""

    comment: Line | None = None


class ChangeFact(BaseModel):
    """Whether the host has the change. This says nothing about a symptom."""

    signal: str
    label: str
    unit: str
    expected: str
    for_s: int
    measured: float | None = Field(description="Newest value since the remedy was applied; null when none arrived")
    measured_at: datetime | None
    confirmed_at: datetime | None = Field(description="Null while it is not confirmed")
    deadline: datetime


class EffectFact(ChangeFact):
    """What the remedy does to the signal of a symptom."""

    symptom: str | None = Field(description="The symptom whose signal this is")
    before: float | None = Field(description="Mean of the signal in the 15 s before; null when no value arrived")


class SymptomFact(BaseModel):
    """The symptom of the remedy's incident where the remedy runs, as it stands now, whatever ended it."""

    symptom: str
    title: str
    present: bool
    cleared_at: datetime | None = Field(description="When it last cleared; null while it is present")


class EffectSample(BaseModel):
    at: datetime
    value: float


class EffectSeries(BaseModel):
    """The signal of the effect from ten minutes before the remedy to its verdict, kept with the remedy."""

    symptom: str | None
    signal: str
    label: str
    unit: str
    expected: str
    bound: float | None = Field(description="The number in `expected`")
    applied_at: datetime
    samples: list[EffectSample] = Field(description="Oldest first, means of equal intervals; empty until the first look")


class Command(BaseModel):
    """One signed command to the agent, queued or sent."""

    command_id: UUID
    operation: Operation
    state: CommandState
    code: str | None
    message: str | None
    issued_at: datetime
    expires_at: datetime
    finished_at: datetime | None


class InhibitedFinding(BaseModel):
    """A finding that began while a remedy ran that may have caused it."""

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
    decided_by: str | None = Field(description="Who approved or rejected it; null if no approval was required")
    decided_at: datetime | None
    decision_comment: str | None = Field(description="Comment of the approver, or reason of the rejection")
    created_at: datetime
    updated_at: datetime
    code: str | None = Field(description="Why it was refused or failed")
    message: str | None
    operations: list[HostOperation]
    applied_at: datetime | None = Field(description="When the host had carried it out; null while it has not")
    change: ChangeFact | None = Field(description="Null until it is applied")
    effect: EffectFact | None = Field(description="Null until it is applied, and where no signal can show an effect")
    symptom: SymptomFact | None = Field(description="Null until it is applied, and for a remedy without an incident")
    undoable: bool = Field(description="POST .../undo would be accepted")
    undo_state: CommandState | None = Field(description="State of the newest undo command; null when there is none or it is done")
    inhibited: list[InhibitedFinding] = Field(
        description="Findings that began while it, or its undo, ran or settled, and are attributed to it; oldest first"
    )
    commands: list[Command]
