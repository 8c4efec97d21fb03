"""Counts, groups and the change feed of incidents, and to whom they can be assigned."""

from datetime import datetime

from pydantic import BaseModel, Field

from wallwatch_backend.incidents.schemas import IncidentSummary


class Facets(BaseModel):
    """Counts by value. Each ignores its own filter, so that the other values of a filter are counted too."""

    state: dict[str, int]
    severity: dict[str, int]
    symptom: dict[str, int]
    cause: dict[str, int]
    scope: dict[str, int]


class Assignees(BaseModel):
    """To whom an incident can be assigned."""

    items: list[str] = Field(description="Names of accounts that can sign in")
    more: bool = Field(description="There are more; ask for a part of the name")


class IncidentCounts(BaseModel):
    total: int = Field(description="Incidents that pass all filters")
    by: Facets


class IncidentGroup(BaseModel):
    """Incidents that have one thing in common."""

    value: str = Field(description="Pass it as `group`, with `group_by`; empty for incidents without such a property")
    incidents: int
    critical: int
    newest: datetime = Field(description="When its newest incident opened")


class IncidentGroups(BaseModel):
    items: list[IncidentGroup] = Field(description="Those with the most critical incidents first; each incident is in one group")
    more: bool = Field(description="There are more groups than were asked for")


class IncidentChanges(BaseModel):
    items: list[IncidentSummary] = Field(description="By last change, oldest first; each incident once")
    next_since: int = Field(description="Pass it as `since` to get later changes")
