"""What surrounds an incident: similar ones, containers that suffer, what changed before."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from wallwatch_backend.incidents.schemas import IncidentSummary


class PastRemedy(BaseModel):
    id: UUID
    action: str
    params: dict[str, Any]
    state: str
    requested_by: str


class SimilarIncident(BaseModel):
    incident: IncidentSummary
    alike: list[str] = Field(description="What it shares, most telling first: cause, symptom, model, fw_ver, host")
    lasted_s: float = Field(description="From its beginning to the end of its symptom, or to its resolution")
    resolved_by: str | None = Field(description="A person, or wallwatch when telemetry showed the end")
    remedies: list[PastRemedy] = Field(description="Those that were applied, verified ones first")
    last_comment: str | None


class SimilarIncidents(BaseModel):
    items: list[SimilarIncident] = Field(description="Most alike first")


class Container(BaseModel):
    """A container that had a virtual function of an RNIC of the incident."""

    host: str
    pci: str = Field(description="The RNIC")
    vf: str | None = Field(description="PCI address of the virtual function")
    container: str
    pod: str | None
    address: str | None
    vxlan_network: int | None
    since: datetime = Field(description="When it got the function")
    until: datetime | None = Field(description="When it gave it back; null when it has it still")


class Containers(BaseModel):
    at: datetime = Field(description="Beginning of the incident: containers that were there then or came since")
    items: list[Container]
    truncated: bool


class Change(BaseModel):
    at: datetime
    kind: Literal["event", "container", "setting", "firmware", "remedy", "incident"]
    host: str
    pci: str
    text: str
    data: dict[str, Any] = Field(default_factory=dict)


class Before(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    since: datetime = Field(alias="from", serialization_alias="from")
    until: datetime = Field(alias="to", serialization_alias="to", description="Beginning of the incident")
    items: list[Change] = Field(description="Oldest first")
    truncated: bool
