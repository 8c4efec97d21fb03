"""States over time, and what agents have."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from wallwatch_backend.policies.schemas import Lifecycle, Subject

StateThen = Literal["violated", "unknown", "holding", "idle", "unheard"]
"""unheard: no report on it at this time."""


class PolicySeries(BaseModel):
    since: datetime = Field(serialization_alias="from")
    until: datetime = Field(serialization_alias="to")
    step_s: int
    times: list[datetime] = Field(description="When each step begins")
    states: list[StateThen] = Field(
        description="violated, where anything was; unknown, where the state of some subject was not known; holding; "
        "idle: nothing to watch; unheard: no report"
    )
    violations: list[int]


class PolicyStrip(BaseModel):
    policy: str
    title: str
    severity: Literal["warning", "critical"]
    subject: Subject
    lifecycle: Lifecycle
    of_host: bool = Field(description="It is about the host, not about this RNIC alone")
    states: list[StateThen]
    violations: list[int]


class PolicyStrips(BaseModel):
    since: datetime = Field(serialization_alias="from")
    until: datetime = Field(serialization_alias="to")
    step_s: int
    times: list[datetime]
    items: list[PolicyStrip] = Field(description="Those that reported on it, the most violated first")


class PolicyRefusal(BaseModel):
    host: str
    at: datetime
    hash: str
    reason: str


class PolicyTables(BaseModel):
    hash: str | None = Field(description="Null for agents that said nothing of theirs yet")
    current: bool
    made_at: datetime | None = Field(description="Null for tables that this server does not know")
    agents: int
    policies: int | None


class PolicyDelivery(BaseModel):
    """Compiled policies of hosts, and who has them."""

    hash: str = Field(description="Of the tables that agents are sent")
    policies: int
    bytes: int
    agents: int = Field(description="Agents that are enrolled")
    takes: int = Field(description="Of them those that take policies")
    connected: int = Field(description="Of these those that are connected now")
    applied: int = Field(description="Agents that run these tables")
    refused: int
    tables: list[PolicyTables] = Field(description="What agents run, by the number of agents")
    refusals: list[PolicyRefusal] = Field(description="The newest, at most 100")
    left_out: list[str] = Field(description="Enabled policies that could not be compiled, with the reason; the others are delivered")
