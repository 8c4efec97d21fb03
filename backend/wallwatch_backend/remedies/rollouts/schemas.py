"""Rollouts: requests and responses."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field, model_validator

from wallwatch_backend.kit.text import HostName, Line, PciAddress
from wallwatch_backend.remedies.rollouts.states import RolloutState
from wallwatch_backend.remedies.states import CommandState, RemedyState


class Target(BaseModel):
    host: HostName
    pci: PciAddress | None = None


class NewRollout(BaseModel):
    action: str = Field(min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9-]*$")
    params: dict[str, Any] = Field(default_factory=dict)
    targets: list[Target] = Field(
        min_length=1, max_length=5000, description="In the order in which they are treated; the first are the canary"
    )
    canary: int = Field(default=1, strict=True, ge=1, le=100, description="Number of targets in the first wave")
    growth: float = Field(default=3, ge=1, le=100, description="Growth factor from wave to wave")
    undo_on_stop: bool = Field(default=False, description="Roll back what it has done when it stops by itself")
    not_before: AwareDatetime | None = Field(default=None, description="Start of the maintenance window")
    not_after: AwareDatetime | None = Field(default=None, description="End of the maintenance window: no wave starts after it")
    incident_id: UUID | None = Field(default=None, description="The incident that it is for; its timeline shows each remedy")
    reason: Line

    @model_validator(mode="after")
    def _sensible(self) -> "NewRollout":
        places = {(target.host, target.pci) for target in self.targets}
        if len(places) < len(self.targets):
            raise ValueError("duplicate target")
        if self.not_before is not None and self.not_after is not None and self.not_before >= self.not_after:
            raise ValueError("not_after must be after not_before")
        return self


class TargetState(BaseModel):
    host: str
    pci: str | None
    remedy_id: UUID | None = Field(description="Null before its wave")
    state: RemedyState | None
    message: str | None
    undo_state: CommandState | None = Field(description="State of the newest undo command on this target; null when there was none")
    undo_message: str | None


class RolloutUndo(BaseModel):
    """Progress of a rollback: waves from last to first, one target alone before all others."""

    by: str
    reason: str
    began_at: datetime = Field(description="When it was requested or resumed")
    despite_failures: bool
    message: str | None = Field(description="Why it is paused, or what was skipped")
    undone: int = Field(description="Targets that are rolled back")
    targets: int = Field(description="Targets that have something to undo")


class RolloutFacts(BaseModel):
    id: UUID
    incident_id: UUID | None
    action: str
    params: dict[str, Any]
    state: RolloutState
    wave: int = Field(description="The present wave, from 0")
    confirmed: int = Field(description="Targets on which telemetry has confirmed the remedy")
    targets: int
    reason: str
    message: str | None = Field(description="Why it is paused, stopped or rejected")
    undo_on_stop: bool
    not_before: datetime | None
    not_after: datetime | None
    requested_by: str
    decided_by: str | None
    decided_at: datetime | None
    decision_comment: str | None = Field(description="Comment of the approver, or reason of the rejection")
    undoable: bool = Field(description="POST .../undo would be accepted")
    undo: RolloutUndo | None = Field(description="Null when no rollback was requested")
    created_at: datetime
    updated_at: datetime


class Rollout(RolloutFacts):
    waves: list[list[TargetState]]


class RolloutEventData(RolloutFacts):
    """What a webhook event of a rollout contains."""

    wave_count: int
    wave_targets: list[TargetState] = Field(description="Targets of the present wave; at most 100")
    truncated: int = Field(description="Number of further targets in the wave")


class StopRollout(BaseModel):
    reason: Line
    undo: bool = Field(default=False, description="Roll back what it has done, as POST .../undo does")


class UndoRollout(BaseModel):
    reason: Line
    despite_failures: bool = Field(
        default=False, description="Continue past targets on which the undo fails; otherwise the first failure pauses the rollback"
    )
