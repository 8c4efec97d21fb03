"""Sign-in as requests and answers."""

from pydantic import BaseModel, Field

from wallwatch_backend.accounts.users.schemas import Password
from wallwatch_backend.kit.roles import Role
from wallwatch_backend.kit.text import SafeText


class SignIn(BaseModel):
    username: SafeText = Field(min_length=1, max_length=100)
    password: SafeText = Field(min_length=1, max_length=1000, json_schema_extra={"format": "password"})
    code: SafeText | None = Field(
        default=None, max_length=100, description="Of the authenticator app, or a recovery code; needed after `second_factor_required`"
    )


class PasswordChange(BaseModel):
    current_password: SafeText = Field(min_length=1, max_length=1000, json_schema_extra={"format": "password"})
    new_password: Password = Field(json_schema_extra={"format": "password"})


class SessionUser(BaseModel):
    username: str
    role: Role


class Session(BaseModel):
    user: SessionUser
    csrf_token: str | None = Field(description="Send it as X-CSRF-Token with every unsafe request; null for API tokens, which need none")
