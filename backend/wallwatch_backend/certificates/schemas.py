"""Authorities that sign the certificates of agents."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field


class AgentAuthority(BaseModel):
    fingerprint: str = Field(description="SHA-256 of its certificate, in hexadecimal digits")
    state: Literal["current", "overlapping", "retired"]
    created_at: datetime
    created_by: str
    not_after: datetime | None = Field(description="When it is not trusted any more; null while it is current")
    agents: int = Field(description="Agents that have a certificate in force of it")


class AgentAuthorities(BaseModel):
    items: list[AgentAuthority] = Field(description="Newest first; empty where agents use no certificates")
    behind: list[str] = Field(description="Hosts whose agents have no certificate of the current one; at most 100")
    behind_total: int


class AuthorityRotation(BaseModel):
    overlap_s: int = Field(
        default=14 * 86_400,
        strict=True,
        ge=0,
        le=365 * 86_400,
        description="Seconds for which the one before is still trusted; 0 when others know its key: then every agent is enrolled again",
    )
