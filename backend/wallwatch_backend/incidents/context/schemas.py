"""The context of an incident: similar incidents, affected containers, recent changes."""

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
    alike: list[str] = Field(description="What it shares, most significant first: cause, symptom, model, fw_ver, host")
    lasted_s: float = Field(description="From its start until its symptom cleared, or until it was resolved")
    resolved_by: str | None = Field(description="A person, or wallwatch if the symptom cleared by itself")
    remedies: list[PastRemedy] = Field(description="Applied remedies, confirmed ones first")
    last_comment: str | None


class SimilarIncidents(BaseModel):
    items: list[SimilarIncident] = Field(description="Most similar first")


class Container(BaseModel):
    """A container that was assigned a virtual function of one of the incident's RNICs."""

    host: str
    pci: str = Field(description="The RNIC")
    vf: str | None = Field(description="PCI address of the virtual function")
    container: str
    pod: str | None
    owner: str | None = Field(description="Kind and name of what runs the pod, such as Deployment/trainer, by Kubernetes")
    labels: dict[str, str] = Field(description="Of the pod, by Kubernetes; empty when Wallwatch may not read pods")
    address: str | None
    vxlan_network: int | None
    since: datetime = Field(description="When the function was assigned")
    until: datetime | None = Field(description="When the function was released; null while it is assigned")


class Containers(BaseModel):
    at: datetime = Field(description="Start of the incident: containers present then or attached since")
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
    until: datetime = Field(alias="to", serialization_alias="to", description="Start of the incident")
    items: list[Change] = Field(description="Oldest first")
    truncated: bool


class Changes(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    since: datetime = Field(
        alias="from", serialization_alias="from", description="Later than requested if the interval is longer than a day"
    )
    until: datetime = Field(alias="to", serialization_alias="to")
    items: list[Change] = Field(description="Oldest first")
    truncated: bool = Field(description="The beginning of the interval is missing")
