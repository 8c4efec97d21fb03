"""What callers send, and what comes back for many incidents at once."""

from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from wallwatch_backend.incidents.filters import IncidentFilter
from wallwatch_backend.incidents.schemas import ExternalRef, IncidentSummary
from wallwatch_backend.kit.text import Line, Paragraph

MAX_BULK = 20_000
"""Ids in one bulk action: a million bytes of body, and more than the incidents of a whole fleet that burns."""


class NewComment(BaseModel):
    text: Paragraph


class IncidentChange(BaseModel):
    """What to change; whatever is left out stays. `assignee: null` takes the assignment back."""

    assignee: Line | None = None
    external_refs: list[ExternalRef] | None = Field(default=None, max_length=20, description="Replaces the list")

    @model_validator(mode="after")
    def _something(self) -> "IncidentChange":
        if not self.model_fields_set:
            raise ValueError("give assignee, external_refs or both")
        if self.external_refs is None and "external_refs" in self.model_fields_set:
            raise ValueError("external_refs must be a list; give [] to remove all")
        return self


class Merge(BaseModel):
    incident_ids: list[UUID] = Field(min_length=1, max_length=1000, description="Incidents to merge into this one")


class Split(BaseModel):
    finding_ids: list[UUID] = Field(
        min_length=1,
        max_length=1000,
        description="Findings that leave. All those that came with a merged incident give that incident back; others become a new one",
    )


class Bulk(BaseModel):
    """The same action on many incidents, given by id or by filter."""

    ids: list[UUID] | None = Field(default=None, min_length=1, max_length=MAX_BULK)
    filter: IncidentFilter | None = None
    action: Literal["acknowledge", "unacknowledge", "resolve", "assign", "comment", "reopen"]
    assignee: Line | None = Field(default=None, description="With assign; null takes the assignment back")
    text: Paragraph | None = Field(default=None, description="With comment")

    @model_validator(mode="after")
    def _one_selection(self) -> "Bulk":
        if (self.ids is None) == (self.filter is None):
            raise ValueError("give either ids or filter")
        if (self.text is not None) != (self.action == "comment"):
            raise ValueError("text belongs to the action comment, which needs it")
        if "assignee" in self.model_fields_set and self.action != "assign" and self.assignee is not None:
            raise ValueError("assignee belongs to the action assign")
        return self


class Skipped(BaseModel):
    id: UUID
    why: str


class BulkResult(BaseModel):
    changed: int
    skipped: list[Skipped]


class Facets(BaseModel):
    """Counts by value. Each ignores its own filter, so that what stands beside a choice is counted too."""

    state: dict[str, int]
    severity: dict[str, int]
    symptom: dict[str, int]
    cause: dict[str, int]
    scope: dict[str, int]


class IncidentCounts(BaseModel):
    total: int = Field(description="Incidents that all filters leave")
    by: Facets


class IncidentChanges(BaseModel):
    items: list[IncidentSummary] = Field(description="In the order of their changes; an incident stands at its last one")
    next_since: int = Field(description="Give it as `since` to get what changes afterwards")
