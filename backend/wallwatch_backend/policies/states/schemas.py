"""States of policies over time."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from wallwatch_backend.policies.formulas.schemas import Subject
from wallwatch_backend.policies.registry.schemas import Lifecycle

StateThen = Literal["violated", "unknown", "holding", "idle", "unheard"]
"""unheard: no report at this time."""


class PolicySeries(BaseModel):
    since: datetime = Field(serialization_alias="from")
    until: datetime = Field(serialization_alias="to")
    step_s: int
    times: list[datetime] = Field(description="When each step begins")
    states: list[StateThen] = Field(
        description="violated: at least one violation; unknown: the state of some subject is unknown; holding; "
        "idle: nothing to watch; unheard: no report"
    )
    violations: list[int]


class PolicyStrip(BaseModel):
    policy: str
    title: str
    severity: Literal["warning", "critical"]
    subject: Subject
    lifecycle: Lifecycle
    of_host: bool = Field(description="It concerns the host, not this RNIC alone")
    states: list[StateThen]
    violations: list[int]


class PolicyStrips(BaseModel):
    since: datetime = Field(serialization_alias="from")
    until: datetime = Field(serialization_alias="to")
    step_s: int
    times: list[datetime]
    items: list[PolicyStrip] = Field(description="Policies with reports, most violations first")
