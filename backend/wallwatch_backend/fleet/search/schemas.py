"""What the search returns."""

from datetime import datetime

from pydantic import BaseModel, Field


class FoundRnic(BaseModel):
    host: str
    pci: str
    rack: str | None
    model: str | None
    symptoms: list[str] = Field(description="Those that are present now")


class FoundHost(BaseModel):
    host: str
    rack: str | None
    rnics: int = Field(description="How many RNICs of it are known")
    zone: str | None = Field(description="Of the node, by Kubernetes")
    instance_type: str | None = Field(description="Of the node, by Kubernetes")


class FoundPod(BaseModel):
    pod: str = Field(description="namespace/name")
    owner: str | None = Field(description="Kind and name of what runs it, by Kubernetes")
    container: str | None
    host: str
    pci: str | None = Field(description="RNIC whose VF it was given; null when the event does not name one")
    device: str | None = Field(description="PCI address of that VF")
    attached_at: datetime


class Found(BaseModel):
    """What matches, the best first, at most a few of each kind."""

    hosts: list[FoundHost]
    rnics: list[FoundRnic]
    pods: list[FoundPod] = Field(description="Among the newest container events of the last day")
