"""A message of `wallwatch.dead_letter` as its readers may rely on it."""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel, Field


class DeadLetter(BaseModel):
    """A message that was refused, with the reason."""

    topic: str
    partition: int
    offset: int
    key: str | None
    reason: str
    detail: str
    value_base64: str = Field(description="The beginning of the message")
    value_bytes: int = Field(ge=0, description="Length of the whole message")
    at: AwareDatetime
