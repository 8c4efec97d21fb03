"""The filters of lists, counts, exports and bulk actions."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from wallwatch_backend.incidents.listing.groups import GroupBy
from wallwatch_backend.incidents.schemas import Scope, Severity
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.text import HostName, Line, StorableText, SymptomName
from wallwatch_backend.kit.times import Moment

Name = Annotated[str, StringConstraints(min_length=1, max_length=200), StorableText]

Sort = Literal["opened_at", "updated_at", "severity"]
Order = Literal["asc", "desc"]


class IncidentFilter(BaseModel):
    """All given filters must match; of a repeated one, any value. Incidents merged into others are left out."""

    state: list[IncidentState] | None = Field(default=None, max_length=10, description="May be repeated")
    host: HostName | None = Field(default=None, description="Of any of its findings; so are pci, rack, model and fw_ver")
    pci: Annotated[str, StringConstraints(max_length=20), StorableText] | None = None
    rack: Name | None = None
    model: Name | None = None
    fw_ver: Name | None = None
    symptom: list[SymptomName] | None = Field(default=None, max_length=10, description="Any of its symptoms; may be repeated")
    cause: Annotated[str, StringConstraints(pattern=r"^C[1-8]$")] | None = Field(default=None, description="The most likely cause")
    severity: Severity | None = None
    scope: Scope | None = None
    assignee: Name | None = None
    unassigned: bool | None = Field(default=None, description="Assigned to nobody, or to somebody who cannot sign in any more")
    active: bool | None = Field(default=None, description="A symptom is present now")
    suppressed_by: UUID | None = None
    inhibited_by: UUID | None = Field(default=None, description="Any of its findings started during this remedy, which may have caused it")
    ticket: Line | None = Field(default=None, description="Key of a ticket that is linked to it")
    ticket_system: Line | None = Field(default=None, description="System of a linked ticket; with `ticket`, of that one")
    q: Line | None = Field(default=None, description="Text in title, summary, subject, host, PCI address or ticket")
    opened_after: Moment | None = None
    opened_before: Moment | None = None
    group_by: GroupBy | None = Field(default=None, description="With `group`: kind of the group, as in `/incidents/groups`")
    group: Annotated[str, StringConstraints(max_length=500), StorableText] | None = Field(
        default=None, description="With `group_by`: only incidents of this group; empty for those without such a property"
    )


class ListQuery(IncidentFilter):
    sort: Sort = "opened_at"
    order: Order = "desc"
    limit: int = Field(default=100, ge=1, le=500, description="Maximum rows in one answer")
    cursor: Annotated[str, StringConstraints(max_length=500)] | None = Field(
        default=None, description="`next_cursor` of the previous page, with the same filters and sorting"
    )


class ExportQuery(IncidentFilter):
    format: Literal["csv", "json"] = "csv"


class GroupsQuery(IncidentFilter):
    by: GroupBy
    limit: int = Field(default=200, ge=1, le=1000, description="Maximum groups in the answer")
