"""RNICs: identity, walls, symptoms, series, mask chains."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from wallwatch.domain.catalogue.models import Statistic
from wallwatch.store.state import RECENT


class WallValue(BaseModel):
    wall: str
    label: str
    value: float | None
    limit: float | None
    unit: str
    headroom: float | None = Field(description="1 - value/limit; null when either is unknown")
    basis: str | None = Field(description="Where the limit comes from: paper, model, assumed")
    leads_to: list[str] = Field(description="Symptoms that follow past this wall")


class ActiveSymptom(BaseModel):
    """A symptom that is active, or that cleared recently."""

    symptom: str
    since: datetime | None
    until: datetime | None = Field(description="When it cleared; null while it is active")
    severity: str | None
    incident_id: UUID | None


class RnicSummary(BaseModel):
    host: str
    pci: str
    rack: str | None
    model: str | None
    headroom: float | None
    nearest_wall: str | None
    symptoms: list[str]
    recent: list[str] = Field(description=f"Symptoms that cleared in the last {RECENT}")
    seen_at: datetime | None
    cordoned: bool
    tx_gbps: float | None
    rx_gbps: float | None


class NodeReport(BaseModel):
    """One thing that NVSentinel says of a node."""

    name: str = Field(description="The check that found it unhealthy, or cordon: NVSentinel cordoned the node")
    since: datetime
    text: str = Field(description="Its words; empty if it gives none")
    devices: list[str] = Field(description="InfiniBand devices and PCI addresses that it is about; empty: the node")


class KubernetesNode(BaseModel):
    """The host as a node of Kubernetes."""

    zone: str | None
    instance_type: str | None
    healthy: Literal["True", "False", "Unknown"] | None = Field(
        description="Status of its condition WallwatchRnicHealthy; null: Wallwatch does not set it"
    )
    reason: str | None = Field(description="Reason of that condition")
    tainted: bool = Field(description="Whether it has Wallwatch's taint, because RNICs are cordoned")
    unschedulable: bool = Field(description="Whether somebody cordoned the node itself")
    nvsentinel: list[NodeReport] = Field(
        description="What NVSentinel says of the node or of this RNIC now, its cordon first; empty: nothing, or Wallwatch does not ask"
    )
    read_at: datetime


class Rnic(BaseModel):
    host: str
    pci: str
    rack: str | None
    model: str | None
    driver: str | None
    firmware: str | None
    ibdev: str | None
    netdev: str | None
    pci_id: str | None
    board_id: str | None
    link_layer: str | None
    seen_at: datetime | None
    stale_after_s: float = Field(description="An RNIC whose last sample is older is stale")
    headroom: float | None
    nearest_wall: str | None
    cordoned: bool
    node: KubernetesNode | None = Field(description="Its host in Kubernetes; null: it is no node, or Wallwatch does not ask")
    agent_id: UUID | None = Field(description="The agent of its host, when one is enrolled")
    agent_connected: bool
    tx_gbps: float | None
    rx_gbps: float | None
    walls: list[WallValue]
    symptoms: list[ActiveSymptom] = Field(description=f"Active ones first, then those that cleared in the last {RECENT}")


class SeriesField(BaseModel):
    name: str
    label: str
    unit: str = Field(description="Counters are rates per second")


class Series(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    since: datetime = Field(alias="from", serialization_alias="from")
    until: datetime = Field(alias="to", serialization_alias="to")
    step_s: int
    fields: list[SeriesField]
    times: list[datetime] = Field(description="Beginning of each step")
    values: dict[str, list[float | None]] = Field(description="By field, one entry per step; null where nothing was measured")


class SignalSeriesField(SeriesField):
    window_s: int = Field(description="Each value is over this long before its time")
    statistic: Statistic = Field(description="Of the window's samples")


class SignalSeries(Series):
    """Signals as the rules of a symptom judged them."""

    fields: list[SignalSeriesField]  # type: ignore[assignment]  # a narrower list, and nobody adds to it


class MaskEntry(BaseModel):
    position: int = Field(description="Lookups before this mask; the head is 0")
    mask: str
    match: str | None
    flows: int | None
    packets: float | None = Field(description="Packets per second that it matched")
    length_bits: int | None


class MaskChains(BaseModel):
    at: datetime | None = Field(description="Time of the newest sample; null when there is none")
    egress: list[MaskEntry]
    ingress: list[MaskEntry]


class FindingInterval(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    finding_id: UUID
    symptom: str
    since: datetime = Field(alias="from", serialization_alias="from")
    until: datetime | None = Field(alias="to", serialization_alias="to", description="Null while the symptom is active")
    severity: Literal["warning", "critical"]
    incident_id: UUID | None
