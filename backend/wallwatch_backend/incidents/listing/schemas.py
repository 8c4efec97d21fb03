"""Counts and the change feed of incidents, and to whom they can be assigned."""

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


class IncidentChanges(BaseModel):
    items: list[IncidentSummary] = Field(description="By last change, oldest first; each incident once")
    next_since: int = Field(description="Pass it as `since` to get later changes")
