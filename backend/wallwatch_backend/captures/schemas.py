"""Captures as the API shows them. The analysis has the same names as `wallwatch capture analyse --json`."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from wallwatch.domain.transport.results import (
    HalfRoundTrip,
    NotificationPoint,
    QueuePair,
    Retransmission,
    Timeouts,
    Violation,
)
from wallwatch_backend.captures.states import CaptureState
from wallwatch_backend.kit.text import StorableText

Ends = Annotated[str, Field(min_length=1, max_length=120), StorableText]
"""Two ends of a connection, as people write them."""


class CaptureOptions(BaseModel):
    """What the uploader said about the file."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    roce_port: Annotated[str, Field(max_length=5, description="UDP destination port of RoCE, or `any`")] = "4791"
    timeout: int = Field(default=14, ge=0, le=31, description="The QPs' `timeout` attribute")
    events: Literal["lumina"] | None = Field(default=None, description="The frames carry Lumina's mirror metadata")
    rtt_us: float | None = Field(default=None, ge=0, le=1e9, description="Round trip between the hosts; null: estimated")
    pairs: list[Ends] = Field(default_factory=list, max_length=100, description="Connections as IP:QPN-IP:QPN")


class CaptureSummary(BaseModel):
    """What a list shows of an analysis."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    frames: int
    roce: int
    rc_qps: int
    retransmissions: int
    timeouts: int
    violations: int
    bad_icrc_frames: int
    conforms: bool
    truncated: bool


class Capture(BaseModel):
    """An uploaded file and the state of its analysis."""

    id: UUID
    name: str
    size_bytes: int
    sha256: str
    state: CaptureState
    progress: float = Field(ge=0, le=1, description="Share of the file that was analysed")
    problem: str | None = Field(description="Why the analysis failed")
    uploaded_by: str
    created_at: datetime
    ended_at: datetime | None
    expires_at: datetime = Field(description="When the analysis is deleted")
    options: CaptureOptions
    summary: CaptureSummary | None = Field(description="Null until the analysis is done")


class Omitted(BaseModel):
    """Entries beyond those of the answer; the command line prints all of them."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    retransmissions: int = 0
    violations: int = 0
    bad_icrc_frames: int = 0
    qps: int = 0
    corrected: int = 0


class CaptureAnalysis(BaseModel):
    """The analysis of one capture. Frame numbers start at 1."""

    frames: int
    roce: int
    cut: int
    truncated: bool
    resolution_ns: float
    icrc: Literal["ok", "bad", "unknown"]
    bad_icrc_frames: list[int]
    rc_qps: int
    vxlan_qps: int
    conforms: bool
    retransmissions: list[Retransmission]
    violations: list[Violation]
    notification_points: list[NotificationPoint]
    timeouts: list[Timeouts]
    migreq_zero_qpns: list[int]
    reordered: int
    reorder_distance: int
    unpaired_directions: int
    duplicate_frames: int
    rnr_resends: int
    spurious_retransmissions: int
    half_rtt: HalfRoundTrip
    qps: list[QueuePair]
    mirror: dict[str, bool | int | dict[str, int]] | None
    notes: dict[str, int]
    omitted: Omitted


class SeriesLabel(BaseModel):
    """One direction of data that has a chart."""

    place: int
    qpn: int
    source: str
    destination: str
    network: int | None
    responses: bool
    retransmissions: int
    packets: int


class CaptureDetail(Capture):
    analysis: CaptureAnalysis | None = Field(description="Null until the analysis is done")
    series: list[SeriesLabel]


class CaptureSeries(SeriesLabel):
    """PSNs over time. Times are nanoseconds since `start_ns`; PSNs are unwrapped and grow past 2^24."""

    start_ns: str = Field(description="Nanoseconds since 1970, as text: JavaScript's numbers are too small")
    stride: int = Field(description="One point stands for so many packets")
    points: list[tuple[int, int]]
    resent: list[tuple[int, int, str]]
    losses: list[tuple[int, int]]
    nacks: list[tuple[int, int]]
    cnps: list[int]


class PublishedFigures(BaseModel):
    """Published latencies in microseconds, [least, most]; null where there are none."""

    nack_generation_us: tuple[float, float] | None
    nack_reaction_us: tuple[float, float] | None


class ModelFigures(BaseModel):
    """What is published about one RNIC model."""

    id: str
    name: str
    source: str
    write: PublishedFigures
    read: PublishedFigures


class TransportModels(BaseModel):
    items: list[ModelFigures]
    next_cursor: None = Field(default=None, description="All models are in one answer")


class QueuePairVerdict(BaseModel):
    """Latencies of a queue pair against a model's published figures."""

    qpn: int
    destination: str
    generation: Literal["as published", "slower", "faster", "unknown"]
    reaction: Literal["as published", "slower", "faster", "unknown"]
    sentence: str


class CaptureVerdicts(BaseModel):
    model: ModelFigures
    items: list[QueuePairVerdict]
    next_cursor: None = Field(default=None, description="All verdicts are in one answer")


class CaptureAttachment(BaseModel):
    incident_id: UUID


class CaptureAttached(BaseModel):
    incident_id: UUID
    text: str = Field(description="The entry of the timeline")
