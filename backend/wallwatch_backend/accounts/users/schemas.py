"""Local accounts as requests and answers. No answer contains a password."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints, model_validator

from wallwatch_backend.kit.roles import Role
from wallwatch_backend.kit.text import StorableText

Username = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._@-]{0,99}$")]
Password = Annotated[str, StringConstraints(min_length=12, max_length=1000), StorableText]


class User(BaseModel):
    id: UUID
    username: str
    role: Role
    disabled: bool
    created_at: datetime
    last_sign_in_at: datetime | None
    second_factor: bool = Field(description="Signing in needs a code of an authenticator app, too")


class NewUser(BaseModel):
    username: Username
    password: Password = Field(json_schema_extra={"format": "password"})
    role: Role


class UserChange(BaseModel):
    """What to change; fields left out stay as they are."""

    role: Role | None = None
    disabled: bool | None = None
    password: Password | None = Field(default=None, json_schema_extra={"format": "password"})

    @model_validator(mode="after")
    def _something(self) -> "UserChange":
        if self.role is None and self.disabled is None and self.password is None:
            raise ValueError("give at least one of role, disabled, password")
        return self
