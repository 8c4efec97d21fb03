"""The caller's account as requests and answers."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from wallwatch_backend.kit.roles import Role
from wallwatch_backend.kit.text import SafeText


class Account(BaseModel):
    username: str
    role: Role
    single_sign_on: bool = Field(description="Signs in at the OpenID Connect provider and has no password here")
    created_at: datetime
    second_factor_since: datetime | None = Field(description="Null: a password alone signs in")
    recovery_codes_left: int


class OwnSession(BaseModel):
    id: UUID
    created_at: datetime
    last_used_at: datetime = Field(description="Noted once a minute")
    expires_at: datetime
    address: str | None = Field(description="From which it was opened")
    current: bool = Field(description="The session of this request")


class OwnSessions(BaseModel):
    items: list[OwnSession]


class StartSecondFactor(BaseModel):
    current_password: SafeText = Field(min_length=1, max_length=1000, json_schema_extra={"format": "password"})


class Enrolment(BaseModel):
    secret: str = Field(description="For typing into an authenticator app; shown once")
    uri: str = Field(description="The same as an otpauth: address, for opening or as a QR code")


class ConfirmSecondFactor(BaseModel):
    code: SafeText = Field(min_length=1, max_length=100)


class RecoveryCodes(BaseModel):
    recovery_codes: list[str] = Field(description="Each signs in once in place of the app; shown once")


class TurnOffSecondFactor(StartSecondFactor):
    code: SafeText = Field(min_length=1, max_length=100, description="Of the app, or a recovery code")
