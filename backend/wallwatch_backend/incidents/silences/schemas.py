"""Silences and maintenance windows."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from wallwatch_backend.kit.matchers import Matcher
from wallwatch_backend.kit.text import Paragraph
from wallwatch_backend.kit.times import Moment

Matchers = Annotated[list[Matcher], Field(min_length=1, max_length=20, description="All must match")]
SilenceKind = Literal["silence", "maintenance"]


class SilenceState(StrEnum):
    pending = "pending"
    active = "active"
    expired = "expired"


class Silence(BaseModel):
    id: UUID
    kind: SilenceKind
    matchers: list[Matcher]
    starts_at: datetime
    ends_at: datetime
    reason: str
    state: SilenceState
    created_by: str
    created_at: datetime
    updated_by: str
    updated_at: datetime
    version: int
    incidents: int = Field(description="Incidents that it suppresses now")


class NewSilence(BaseModel):
    """An incident is suppressed while every one of its active findings is matched by a silence."""

    kind: SilenceKind = "silence"
    matchers: Matchers
    starts_at: Moment | None = Field(default=None, description="Default: now")
    ends_at: Moment
    reason: Paragraph

    @model_validator(mode="after")
    def _in_order(self) -> "NewSilence":
        if self.starts_at is not None and self.ends_at <= self.starts_at:
            raise ValueError("ends_at must be after starts_at")
        return self


class SilenceChange(BaseModel):
    """Fields to change; others keep their values. `ends_at` now or earlier ends it now."""

    matchers: Matchers | None = None
    starts_at: Moment | None = None
    ends_at: Moment | None = None
    reason: Paragraph | None = None

    @model_validator(mode="after")
    def _something(self) -> "SilenceChange":
        if all(value is None for value in (self.matchers, self.starts_at, self.ends_at, self.reason)):
            raise ValueError("give at least one of matchers, starts_at, ends_at, reason")
        return self


class PreviewRequest(BaseModel):
    matchers: Matchers


class PreviewedIncident(BaseModel):
    id: UUID
    title: str
    host: str
    pci: str


class Preview(BaseModel):
    incidents: int = Field(description="Unresolved incidents that would be suppressed")
    rnics: int = Field(description="RNICs that the matchers on host, rack, pci, model and fw_ver select")
    hosts: int
    sample: list[PreviewedIncident]
