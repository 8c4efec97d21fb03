"""What runs on cards now, from the newest samples."""

from datetime import datetime

from pydantic import BaseModel, Field

from wallwatch_backend.contention.predictions.schemas import OwnCounters


class RunningFunction(BaseModel):
    """One function as it is measured; null is what the host does not allow or nobody measures."""

    name: str = Field(description="Its pod, else its container, else the function; unique on the card")
    function: str
    container: str
    pod: str | None
    at: datetime
    cores: float | None
    cpu_share: float | None
    flows: float | None
    packet_bytes: float | None
    mtbr: float | None
    counters: OwnCounters | None = Field(description="Null unless all seven are measured")
    throughput_kpps: float | None
    offered_kpps: float | None
    saturated: bool | None = Field(description="It processes less than arrives: only then its throughput is what it can do")
    host_limits: str | None = Field(description="What the host does not allow")


class NfCard(BaseModel):
    host: str
    pci: str
    model: str | None
    fw_ver: str | None
    cores_used: float
    functions: list[RunningFunction]


class NfCards(BaseModel):
    items: list[NfCard]
    next_cursor: None = Field(default=None, description="All cards with functions are in one answer")
