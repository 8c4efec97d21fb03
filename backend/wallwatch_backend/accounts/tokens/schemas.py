"""API tokens as requests and answers. The token itself is returned once, when it is created."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from wallwatch_backend.kit.roles import Role, TokenScope
from wallwatch_backend.kit.text import HostName, Line

TokenState = Literal["active", "owner_disabled", "no_owner"]
DEFAULT_TTL_DAYS = 90


class Token(BaseModel):
    id: UUID
    name: str
    role: Role
    owner: str | None = Field(description="Account that it belongs to and ends with; null when that account is gone")
    state: TokenState
    effective_role: Role | None = Field(description="What it may do now: at most its owner's present role; null when it is not valid")
    scopes: list[TokenScope]
    hosts: list[str] = Field(description="With `racks`, the only hosts that it may read and change; both empty: all")
    racks: list[str]
    prefix: str = Field(description="The first characters, to recognise the token")
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    last_used_address: str | None


class NewToken(BaseModel):
    name: Line
    role: Role = Field(description="At most the owner's role")
    owner: Line | None = Field(default=None, description="User name of the account that it belongs to; null: the caller")
    scopes: Annotated[list[TokenScope], Field(min_length=1, max_length=len(TokenScope))] = Field(
        default_factory=lambda: list(TokenScope), description="What it may do within its role; by default whatever the role allows"
    )
    hosts: list[HostName] = Field(default_factory=list, max_length=500, description="The only hosts that it may read and change")
    racks: list[Line] = Field(default_factory=list, max_length=100, description="The only racks whose hosts it may read and change")
    ttl_days: int | None = Field(
        default=DEFAULT_TTL_DAYS, ge=1, le=3650, description="Days until it expires; null, given explicitly: never"
    )

    @model_validator(mode="after")
    def _limits_that_hold(self) -> "NewToken":
        if (self.hosts or self.racks) and TokenScope.admin in self.scopes:
            raise ValueError("scope admin concerns the whole installation: leave it out, or hosts and racks")
        return self


class CreatedToken(Token):
    token: str = Field(description="Shown only now")
