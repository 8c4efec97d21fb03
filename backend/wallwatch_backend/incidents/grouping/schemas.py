"""Merging and splitting by hand: what people send."""

from uuid import UUID

from pydantic import BaseModel, Field


class Merge(BaseModel):
    incident_ids: list[UUID] = Field(min_length=1, max_length=1000, description="Incidents to merge into this one")


class Split(BaseModel):
    finding_ids: list[UUID] = Field(
        min_length=1,
        max_length=1000,
        description="Findings that leave. All findings of a merged incident restore that incident; others open a new one",
    )
