"""Authorities that sign the certificates of agents."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field


class AgentAuthority(BaseModel):
    fingerprint: str = Field(description="SHA-256 of its certificate, in hexadecimal digits")
    state: Literal["current", "overlapping", "retired"]
    created_at: datetime
    created_by: str
    not_after: datetime | None = Field(description="When it stops being trusted; null while it is current")
    agents: int = Field(description="Number of agents with a valid certificate of it")


class AgentAuthorities(BaseModel):
    items: list[AgentAuthority] = Field(description="Newest first; empty if agents do not use certificates")
    behind: list[str] = Field(description="Hosts whose agents have no certificate of the current authority; at most 100")
    behind_total: int


class AuthorityRotation(BaseModel):
    overlap_s: int = Field(
        default=14 * 86_400,
        strict=True,
        ge=0,
        le=365 * 86_400,
        description="Seconds for which the previous authority is still trusted. Use 0 if its key leaked: every agent must then enrol again",
    )
