"""The compiled policies that agents run."""

from datetime import datetime

from pydantic import BaseModel, Field


class PolicyRefusal(BaseModel):
    host: str
    at: datetime
    hash: str
    reason: str


class PolicyTables(BaseModel):
    hash: str | None = Field(description="Null for agents that have not reported theirs yet")
    current: bool
    made_at: datetime | None = Field(description="Null for tables of another server")
    agents: int
    policies: int | None


class PolicyDelivery(BaseModel):
    """Compiled policies, and which agents run them."""

    hash: str = Field(description="Hash of the current tables")
    policies: int
    bytes: int
    agents: int = Field(description="Enrolled agents")
    takes: int = Field(description="Of these, agents that accept policies")
    connected: int = Field(description="Of these, agents that are connected")
    applied: int = Field(description="Agents that run these tables")
    refused: int
    tables: list[PolicyTables] = Field(description="Tables by the number of agents that run them")
    refusals: list[PolicyRefusal] = Field(description="The newest, at most 100")
    left_out: list[str] = Field(description="Enabled policies that could not be compiled, with the reason; the others are delivered")
