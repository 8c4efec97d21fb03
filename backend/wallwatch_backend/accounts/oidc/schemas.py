"""How people can sign in, for the sign-in page."""

from typing import Literal

from pydantic import BaseModel, Field


class SignInMethods(BaseModel):
    local: Literal["all", "admins"] = Field(description="Who may sign in with a password: everybody with one, or administrators only")
    single_sign_on: str | None = Field(description="Name of the OpenID Connect provider; null if there is none")
