"""Saved views of the incident list."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints, model_validator

from wallwatch_backend.kit.text import Line, StorableText

Query = Annotated[str, StringConstraints(max_length=2000), StorableText]


class View(BaseModel):
    id: UUID
    name: str
    query: str = Field(description="The search part of the page's address")
    shared: bool
    owner: str
    mine: bool = Field(description="The caller may change it")
    created_at: datetime
    updated_at: datetime


class NewView(BaseModel):
    name: Line
    query: Query
    shared: bool = False


class ViewChange(BaseModel):
    name: Line | None = None
    query: Query | None = None
    shared: bool | None = None

    @model_validator(mode="after")
    def _something(self) -> "ViewChange":
        if all(value is None for value in (self.name, self.query, self.shared)):
            raise ValueError("give at least one of name, query, shared")
        return self
