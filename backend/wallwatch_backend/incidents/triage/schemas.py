"""What people send to change incidents, and the answer to a bulk action."""

from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from wallwatch_backend.incidents.listing.filters import IncidentFilter
from wallwatch_backend.incidents.schemas import ExternalRef
from wallwatch_backend.kit.text import Line, Paragraph

MAX_BULK = 20_000
"""Ids in one bulk action: a million bytes of body, and more than a whole fleet in trouble has incidents."""


class NewComment(BaseModel):
    text: Paragraph


class IncidentChange(BaseModel):
    """Fields to change; others keep their values. `assignee: null` unassigns."""

    assignee: Line | None = Field(default=None, description="An account that can sign in; null: nobody")
    external_refs: list[ExternalRef] | None = Field(default=None, max_length=20, description="Replaces the list")

    @model_validator(mode="after")
    def _something(self) -> "IncidentChange":
        if not self.model_fields_set:
            raise ValueError("give assignee, external_refs or both")
        if self.external_refs is None and "external_refs" in self.model_fields_set:
            raise ValueError("external_refs must be a list; give [] to remove all")
        return self


class Bulk(BaseModel):
    """The same action on many incidents, given by id or by filter."""

    ids: list[UUID] | None = Field(default=None, min_length=1, max_length=MAX_BULK)
    filter: IncidentFilter | None = None
    action: Literal["acknowledge", "unacknowledge", "resolve", "assign", "comment", "reopen"]
    assignee: Line | None = Field(default=None, description="With assign: an account that can sign in; null unassigns")
    text: Paragraph | None = Field(default=None, description="With comment")

    @model_validator(mode="after")
    def _one_selection(self) -> "Bulk":
        if (self.ids is None) == (self.filter is None):
            raise ValueError("give either ids or filter")
        if (self.text is not None) != (self.action == "comment"):
            raise ValueError("text is required by the action comment and not allowed with others")
        if "assignee" in self.model_fields_set and self.action != "assign" and self.assignee is not None:
            raise ValueError("assignee is only allowed with the action assign")
        return self


class Skipped(BaseModel):
    id: UUID
    why: str


class BulkResult(BaseModel):
    changed: int
    skipped: list[Skipped]
