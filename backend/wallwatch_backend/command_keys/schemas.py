"""Keys that sign commands."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field


class CommandKeyInfo(BaseModel):
    kid: str
    public_key: str = Field(description="Ed25519, base64url, 32 bytes")
    state: Literal["current", "overlapping", "retired"]
    created_at: datetime | None = Field(description="Null for the server's first key while it was never rotated")
    created_by: str | None
    not_after: datetime | None = Field(description="When agents stop to accept it; null while it is current")
    agents: int = Field(description="Agents that say that they trust it")


class CommandKeys(BaseModel):
    items: list[CommandKeyInfo] = Field(description="Newest first")
    behind: list[str] = Field(description="Hosts whose agents have not said that they trust the current key; at most 100")
    behind_total: int


class Rotation(BaseModel):
    overlap_s: int = Field(
        default=7 * 86_400,
        strict=True,
        ge=0,
        le=90 * 86_400,
        description="Seconds for which agents still accept the key before; 0 when others know it: commands under way are then refused",
    )
