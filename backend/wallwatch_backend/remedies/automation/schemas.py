"""Automation rules and runs: requests and responses."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints, model_validator

from wallwatch_backend.kit.matchers import Matcher, Matchers
from wallwatch_backend.kit.text import Line
from wallwatch_backend.remedies.automation.states import RunState

Action = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[a-z][a-z0-9-]*$")]
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
Cooldown = Annotated[int, Field(ge=60, le=30 * 86_400, description="Seconds before the rule may act again at the same place")]
_FROM = "Start of the daily maintenance window in which the rule acts, HH:MM in UTC; null: at any time. It may span midnight"
_PARAMS = "Parameters of the remedy; the PCI address of an action on an RNIC comes from the finding"


Trigger = Literal["finding", "decline"]
_TRIGGER = (
    "What triggers it: a finding of an incident that nobody has acknowledged, or a predicted decline of bandwidth by 5% or more "
    "(only for apply-mask-plan; matchers then are on host, rack, pci, model and fw_ver)"
)
PLAN_ACTION = "apply-mask-plan"
OF_AN_RNIC = ("host", "rack", "pci", "model", "fw_ver")
"""Labels that every RNIC has, healthy or not."""


class NewRule(BaseModel):
    name: Line
    action: Action
    params: dict[str, Any] = Field(default_factory=dict, description=_PARAMS)
    trigger: Trigger = Field(default="finding", description=_TRIGGER)
    matchers: Matchers = Field(
        description="Where it acts; all must hold. For findings one must match symptoms or causes; for declines at least one is required"
    )
    window_from: TimeOfDay | None = Field(default=None, description=_FROM)
    window_to: TimeOfDay | None = None
    cooldown_s: Cooldown = 3600

    @model_validator(mode="after")
    def _whole_window(self) -> "NewRule":
        if (self.window_from is None) != (self.window_to is None) or (self.window_from is not None and self.window_from == self.window_to):
            raise ValueError("window_from and window_to must both be given and differ, or both be omitted")
        return self

    @model_validator(mode="after")
    def _declines_are_planned_for(self) -> "NewRule":
        if self.trigger == "decline":
            if self.action != PLAN_ACTION:
                raise ValueError(f"the remedy for a predicted decline is a mask plan: action must be {PLAN_ACTION}")
            if odd := sorted({matcher.name for matcher in self.matchers} - set(OF_AN_RNIC)):
                raise ValueError(f"a predicted decline has no {', '.join(odd)}; match on {', '.join(OF_AN_RNIC)}")
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
    enabled_by: str | None = Field(description="Who enabled it; null while it is disabled")
    enabled_at: datetime | None
    needs_approval: bool = Field(description="Its remedies need a second person's approval, by the action's risk")
    open_runs: int = Field(description="Places where it acts now")


class RunStep(BaseModel):
    """One step of a run."""

    at: datetime
    state: RunState = Field(description="State of the run from then on")
    text: str
    plan_id: UUID | None = Field(default=None, description="The mask plan that was requested")
    remedy_id: UUID | None = Field(default=None, description="The dry run or remedy that was requested")


class Run(BaseModel):
    id: UUID
    finding_id: UUID | None = Field(description="Null where it acts on a predicted decline")
    incident_id: UUID | None
    host: str
    pci: str
    state: RunState
    message: str | None
    plan_id: UUID | None = Field(description="The newest mask plan that was requested for it")
    dry_run_id: UUID | None = Field(description="Null while its mask plan is being computed")
    remedy_id: UUID | None
    steps: list[RunStep] = Field(description="Its steps, oldest first")
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None


class RulePreview(BaseModel):
    """Where a rule would act now."""

    places: list[str] = Field(description="Host and PCI address; at most 100")
    total: int
