"""Rules of the automatic mode: what comes in and goes out."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
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


Trigger = Literal["finding", "decline"]
_TRIGGER = (
    "What it waits for: a finding of an incident that nobody has taken, or a forecast that the bandwidth falls by 5 % or more "
    "(only for apply-mask-plan; matchers then are on host, rack, pci, model and fw_ver)"
)
PLAN_ACTION = "apply-mask-plan"
OF_AN_RNIC = ("host", "rack", "pci", "model", "fw_ver")
"""Labels that an RNIC has whether anything is wrong with it or not."""


class NewRule(BaseModel):
    name: Line
    action: Action
    params: dict[str, Any] = Field(default_factory=dict, description=_PARAMS)
    trigger: Trigger = Field(default="finding", description=_TRIGGER)
    matchers: Matchers = Field(
        description="Where; all must hold. Of findings one of them must choose symptoms or causes, of declines there must be one"
    )
    window_from: TimeOfDay | None = Field(default=None, description=_FROM)
    window_to: TimeOfDay | None = None
    cooldown_s: Cooldown = 3600

    @model_validator(mode="after")
    def _whole_window(self) -> "NewRule":
        if (self.window_from is None) != (self.window_to is None) or (self.window_from is not None and self.window_from == self.window_to):
            raise ValueError("give window_from and window_to, and different ones, or neither")
        return self

    @model_validator(mode="after")
    def _declines_are_planned_for(self) -> "NewRule":
        if self.trigger == "decline":
            if self.action != PLAN_ACTION:
                raise ValueError(f"a predicted decline is met by a mask plan: action must be {PLAN_ACTION}")
            if odd := sorted({matcher.name for matcher in self.matchers} - set(OF_AN_RNIC)):
                raise ValueError(f"a predicted decline has no {', '.join(odd)}; choose by {', '.join(OF_AN_RNIC)}")
        return self


class Rule(BaseModel):
    id: UUID
    name: str
    action: str
    params: dict[str, Any]
    trigger: Trigger
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
    """`planning`: the mask plan, if the rule is for one, and the dry run; `waiting`: for the limits; `applying`: ordered, maybe awaiting
    approval; `undoing`: it did not work."""

    planning = "planning"
    waiting = "waiting"
    applying = "applying"
    undoing = "undoing"
    verified = "verified"
    undone = "undone"
    gave_up = "gave_up"


class RunStep(BaseModel):
    """One thing that a rule did at a place, or met."""

    at: datetime
    state: RunState = Field(description="Of the run from then on")
    text: str
    plan_id: UUID | None = Field(default=None, description="The mask plan that was asked for")
    remedy_id: UUID | None = Field(default=None, description="The dry run or remedy that was ordered")


class Run(BaseModel):
    id: UUID
    finding_id: UUID | None = Field(description="Null where a predicted decline is what it acts on")
    incident_id: UUID | None
    host: str
    pci: str
    state: RunState
    message: str | None
    plan_id: UUID | None = Field(description="The newest mask plan that was made for it")
    dry_run_id: UUID | None = Field(description="Null while its mask plan is being made")
    remedy_id: UUID | None
    steps: list[RunStep] = Field(description="What it did, oldest first")
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None


class RulePreview(BaseModel):
    """Where a rule would act now."""

    places: list[str] = Field(description="Host and PCI address; at most 100")
    total: int
