"""Rules of the automatic mode: what comes in and goes out."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints, model_validator

from wallwatch_backend.kit.matchers import Matcher, Matchers
from wallwatch_backend.kit.text import Line

Action = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9-]*$")]
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
Cooldown = Annotated[
    int, Field(ge=60, le=30 * 86_400, description="Seconds for which the rule leaves a place alone after it began to act there")
]
_FROM = "Begin of the daily maintenance window in which the rule acts, HH:MM in UTC; null: at any time. It may be over midnight"
_PARAMS = "Of the remedy; the PCI address of an action on an RNIC comes from the finding"


class NewRule(BaseModel):
    name: Line
    action: Action
    params: dict[str, Any] = Field(default_factory=dict, description=_PARAMS)
    matchers: Matchers = Field(description="Which findings; all must hold, and one of them must choose symptoms or causes")
    window_from: TimeOfDay | None = Field(default=None, description=_FROM)
    window_to: TimeOfDay | None = None
    cooldown_s: Cooldown = 3600

    @model_validator(mode="after")
    def _whole_window(self) -> "NewRule":
        if (self.window_from is None) != (self.window_to is None) or (self.window_from is not None and self.window_from == self.window_to):
            raise ValueError("give window_from and window_to, and different ones, or neither")
        return self


class Rule(BaseModel):
    id: UUID
    name: str
    action: str
    params: dict[str, Any]
    matchers: list[Matcher]
    enabled: bool
    window_from: str | None
    window_to: str | None
    cooldown_s: int
    created_by: str
    created_at: datetime
    updated_at: datetime
    enabled_by: str | None = Field(description="Who switched it on, while it is on")
    enabled_at: datetime | None
    needs_approval: bool = Field(description="Its remedies wait for a second person, by the action's risk")
    open_runs: int = Field(description="Places at which it acts now")


class RunState(StrEnum):
    """`planning`: the dry run; `waiting`: for the limits; `applying`: ordered, maybe awaiting approval; `undoing`: it did not work."""

    planning = "planning"
    waiting = "waiting"
    applying = "applying"
    undoing = "undoing"
    verified = "verified"
    undone = "undone"
    gave_up = "gave_up"


class Run(BaseModel):
    id: UUID
    finding_id: UUID
    incident_id: UUID
    host: str
    pci: str
    state: RunState
    message: str | None
    dry_run_id: UUID
    remedy_id: UUID | None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None


class RulePreview(BaseModel):
    """Where a rule would act now."""

    places: list[str] = Field(description="Host and PCI address; at most 100")
    total: int
