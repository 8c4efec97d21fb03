"""Rollouts: what comes in and goes out."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field, model_validator

from wallwatch_backend.kit.text import HostName, Line, PciAddress
from wallwatch_backend.remedies.schemas import RemedyState


class RolloutState(StrEnum):
    proposed = "proposed"
    rejected = "rejected"
    running = "running"
    paused = "paused"
    stopped = "stopped"
    verified = "verified"
    undoing = "undoing"
    undo_paused = "undo_paused"
    undone = "undone"


UNDOABLE_FROM = frozenset(
    {RolloutState.running, RolloutState.paused, RolloutState.stopped, RolloutState.verified, RolloutState.undo_paused}
)
"""States in which a rollout can be taken back, if it has done anything."""


class Target(BaseModel):
    host: HostName
    pci: PciAddress | None = None


class NewRollout(BaseModel):
    action: str = Field(min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9-]*$")
    params: dict[str, Any] = Field(default_factory=dict)
    targets: list[Target] = Field(
        min_length=1, max_length=5000, description="In the order in which they are reached; the first are the canary"
    )
    canary: int = Field(default=1, strict=True, ge=1, le=100, description="How many targets the first wave has")
    growth: float = Field(default=3, ge=1, le=100, description="How many times larger each wave is than the one before")
    undo_on_stop: bool = Field(default=False, description="When it stops by itself, take back what it has done")
    not_before: AwareDatetime | None = Field(default=None, description="Begin of the maintenance window")
    not_after: AwareDatetime | None = Field(default=None, description="End of the maintenance window: no wave begins after it")
    incident_id: UUID | None = Field(default=None, description="The incident for which it is; its timeline tells of each remedy")
    reason: Line

    @model_validator(mode="after")
    def _sensible(self) -> "NewRollout":
        places = {(target.host, target.pci) for target in self.targets}
        if len(places) < len(self.targets):
            raise ValueError("a target is named twice")
        if self.not_before is not None and self.not_after is not None and self.not_before >= self.not_after:
            raise ValueError("not_after must be after not_before")
        return self


class TargetState(BaseModel):
    host: str
    pci: str | None
    remedy_id: UUID | None = Field(description="Null before its wave")
    state: RemedyState | None
    message: str | None
    undo_state: Literal["pending", "dispatched", "done", "failed", "refused", "expired"] | None = Field(
        description="How the newest attempt to take it back on this target went; null when there was none"
    )
    undo_message: str | None


class RolloutUndo(BaseModel):
    """How taking back a rollout goes: its waves from the last to the first, one target alone before all others."""

    by: str
    reason: str
    began_at: datetime = Field(description="When it was asked for or went on again")
    despite_failures: bool
    message: str | None = Field(description="What holds it up, or was left")
    undone: int = Field(description="Targets on which it was taken back")
    targets: int = Field(description="Targets on which there was something to take back")


class RolloutFacts(BaseModel):
    id: UUID
    incident_id: UUID | None
    action: str
    params: dict[str, Any]
    state: RolloutState
    wave: int = Field(description="The present wave, from 0")
    verified: int = Field(description="Targets on which telemetry has shown that it worked")
    targets: int
    reason: str
    message: str | None = Field(description="Why it is paused, stopped or rejected")
    undo_on_stop: bool
    not_before: datetime | None
    not_after: datetime | None
    requested_by: str
    decided_by: str | None
    decided_at: datetime | None
    decision_comment: str | None = Field(description="What who decided had to say")
    undoable: bool = Field(description="POST .../undo would be accepted")
    undo: RolloutUndo | None = Field(description="Null when nobody asked to take it back")
    created_at: datetime
    updated_at: datetime


class Rollout(RolloutFacts):
    waves: list[list[TargetState]]


class RolloutNews(RolloutFacts):
    """What webhooks are told of a rollout."""

    wave_count: int
    wave_targets: list[TargetState] = Field(description="Of the present wave; at most 100")
    truncated: int = Field(description="How many more targets the wave has")


class StopRollout(BaseModel):
    reason: Line
    undo: bool = Field(default=False, description="Take back what it has done, as POST .../undo does")


class UndoRollout(BaseModel):
    reason: Line
    despite_failures: bool = Field(
        default=False, description="Go on past targets on which taking it back fails; otherwise the first one holds it up"
    )
