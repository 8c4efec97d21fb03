"""Keys that sign commands."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field


class CommandKey(BaseModel):
    """A key as an agent pins it at its enrolment."""

    kid: str
    alg: str = "EdDSA"
    public_key: str = Field(description="Ed25519, base64url, 32 bytes")
    not_after: str | None = Field(default=None, description="RFC 3339; when the agent stops accepting it")


class CommandKeyInfo(BaseModel):
    kid: str
    public_key: str = Field(description="Ed25519, base64url, 32 bytes")
    state: Literal["current", "overlapping", "retired"]
    created_at: datetime | None = Field(description="Null for the server's first key until the first rotation")
    created_by: str | None
    not_after: datetime | None = Field(description="When agents stop accepting it; null while it is current")
    agents: int = Field(description="Number of agents that report that they trust it")


class CommandKeys(BaseModel):
    items: list[CommandKeyInfo] = Field(description="Newest first")
    behind: list[str] = Field(description="Hosts whose agents have not reported that they trust the current key; at most 100")
    behind_total: int


class Rotation(BaseModel):
    overlap_s: int = Field(
        default=7 * 86_400,
        strict=True,
        ge=0,
        le=90 * 86_400,
        description="Seconds for which agents still accept the previous key; 0 if it leaked: agents then refuse what it signed",
    )
