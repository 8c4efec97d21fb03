"""API tokens as requests and answers. The token itself is returned once, when it is created."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from wallwatch_backend.kit.roles import Role
from wallwatch_backend.kit.text import Line


class Token(BaseModel):
    id: UUID
    name: str
    role: Role
    prefix: str = Field(description="The first characters, to recognise the token")
    created_by: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class NewToken(BaseModel):
    name: Line
    role: Role
    ttl_days: int | None = Field(default=None, ge=1, le=3650, description="Days until it expires; null: never")


class CreatedToken(Token):
    token: str = Field(description="Shown only now")
