"""Profiles of RNIC models and their versions."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from wallwatch.domain.calibration.conditions import MOST_MASKS
from wallwatch.domain.calibration.result import Calibration
from wallwatch_backend.kit.text import Line, Paragraph, SafeText, StorableText

VersionState = Literal["candidate", "refused", "active", "retired"]
Source = Literal["perftest", "fleet", "lab"]
Count = Annotated[float, Field(ge=0, le=MOST_MASKS, allow_inf_nan=False)]


class Parameters(BaseModel):
    """BW = u exp(-((Q_l-m)^2 + (Q_r-n)^2) / (2 v^2)) + w [Gbit/s]; LAT = a Q_l + b Q_r + c [us]."""

    u: float
    v: float
    m: float
    n: float
    w: float
    a: float
    b: float
    c: float
    goodness: float = Field(description="R squared of the fit of bandwidth")
    latency_goodness: float | None = Field(None, description="R squared of the fit of latency; null where one goodness stands for both")


class WallLimit(BaseModel):
    wall: str
    label: str
    unit: str
    value: float
    basis: str = Field(description="paper, model, assumed or calibrated")
    source: str


class VersionSummary(BaseModel):
    id: UUID | None = Field(description="Null for the built-in profile")
    number: int = Field(description="0 is the built-in profile")
    driver: str = Field(description="Empty: all drivers")
    fw_ver: str = Field(description="Empty: all firmwares")
    state: VersionState
    source: Literal["catalogue", "perftest", "fleet", "lab"]
    parameters: Parameters | None = Field(description="Null where the calibration was refused")
    limits: dict[str, float] = Field(description="Limits of walls that were measured with it")
    note: str
    reasons: list[str] = Field(description="Why the calibration was accepted or refused, per quantity")
    points: int = Field(description="Points that its fits used")
    created_by: str | None
    created_at: datetime | None
    promoted_by: str | None
    promoted_at: datetime | None
    retired_at: datetime | None


class ProfileVersion(VersionSummary):
    calibration: Calibration | None = Field(description="Null for the built-in profile")


class ProfileSummary(BaseModel):
    model: str
    title: str
    vendor: str
    rnics: int = Field(description="RNICs of this model that have sent telemetry")
    active: int = Field(description="Number of the version that is active for all drivers and firmwares; 0 is built-in")
    scoped: int = Field(description="Versions that are active for one driver or firmware")
    candidates: int = Field(description="Versions that can be promoted")
    parameters: Parameters
    parameters_basis: str = Field(description="paper, assumed (another model's) or calibrated")
    parameters_source: str
    head_gbps: float = Field(description="Bandwidth at the head of both chains")
    head_us: float


class Profile(ProfileSummary):
    pci_ids: list[str]
    hca_types: list[str]
    limits: list[WallLimit]
    versions: list[VersionSummary] = Field(description="Newest first; the built-in profile is the last")
    equation_note: str


class Profiles(BaseModel):
    items: list[ProfileSummary]
    next_cursor: None = Field(default=None, description="All profiles are in one answer")


class Surface(BaseModel):
    number: int
    q_l: list[float]
    q_r: list[float]
    bandwidth_gbps: list[list[float]] = Field(description="A row per Q_r, a column per Q_l")
    latency_us: list[list[float]]


class Estimate(BaseModel):
    """A prediction with its interval."""

    value: float
    lower: float
    upper: float


class Predicted(BaseModel):
    model: str
    number: int
    q_l: float
    q_r: float
    bandwidth_gbps: Estimate
    latency_us: Estimate
    level: float
    basis: str
    extrapolated: bool


class PerftestFile(BaseModel):
    name: Annotated[str, StringConstraints(min_length=1, max_length=300), StorableText]
    text: Annotated[SafeText, Field(max_length=200_000, description="Unchanged output of one of the tools")]
    masks: dict[Literal["cen", "cde", "sen", "sde", "ql", "qr"], Count] | None = Field(
        None,
        description="Where the file name does not encode it: the masks of client and server, encapsulation and decapsulation (cen, cde,"
        " sen, sde), or the mean mask lookups per packet (ql, qr)",
    )


class NewCalibration(BaseModel):
    files: list[PerftestFile] = Field(min_length=1, max_length=200)
    driver: Annotated[str, StringConstraints(max_length=100), StorableText] = ""
    fw_ver: Annotated[str, StringConstraints(max_length=100), StorableText] = ""
    verb: Literal["send", "write", "read"] | None = None
    limits: dict[str, Annotated[float, Field(gt=0, le=1e9)]] = Field({}, max_length=20, description="Walls that were measured with it")
    note: Annotated[str, StringConstraints(max_length=4000, strip_whitespace=True), StorableText] = ""


class FleetCalibration(BaseModel):
    hours: int = Field(24, ge=1, le=24 * 7, description="Age of the oldest samples that are used")
    fw_ver: Annotated[str, StringConstraints(max_length=100), StorableText] = ""
    note: Annotated[str, StringConstraints(max_length=4000, strip_whitespace=True), StorableText] = ""


class Reason(BaseModel):
    reason: Line | Paragraph = Field(description="Shown in the audit log")


class RollBack(Reason):
    driver: Annotated[str, StringConstraints(max_length=100), StorableText] = ""
    fw_ver: Annotated[str, StringConstraints(max_length=100), StorableText] = ""


class ComparedPoint(BaseModel):
    quantity: Literal["bandwidth", "latency"]
    source: str
    q_l: float
    q_r: float
    measured: float
    left: float
    right: float


class Comparison(BaseModel):
    left: VersionSummary
    right: VersionSummary
    points: list[ComparedPoint] = Field(description="Every measured point of either, with both predictions")
    left_error: dict[str, float] = Field(description="By quantity: root mean square of the relative errors at these points")
    right_error: dict[str, float]


class PlacedRnic(BaseModel):
    """An RNIC on the surface of its model, from its newest samples."""

    host: str
    pci: str
    at: datetime
    q_l: float = Field(description="Mean lookups over packets in flight: a packet deep in the chain is in flight for longer")
    q_r: float = Field(description="The same at its receivers")
    q_r_basis: Literal["peers", "own_ingress"] = Field(description="Joined over its peers, or its own ingress chain in place of theirs")
    expected_gbps: float
    expected_us: float
    measured_gbps: float | None = Field(description="What it sends; traffic may not use the RNIC fully")


class PathPoint(BaseModel):
    """Where an RNIC stood on its model's surface in one minute."""

    at: datetime
    q_l: float = Field(description="Mean lookups over packets in flight")
    q_r: float = Field(description="The same at its receivers")
    expected_gbps: float
    expected_us: float
    measured_gbps: float | None
    residual: float | None = Field(description="(measured - expected) / expected; below zero also when traffic does not use the RNIC fully")


class RnicPerformance(BaseModel):
    """Expected against measured performance of one RNIC, now and over the last hours."""

    model: str
    number: int = Field(description="Version of the profile; 0 is built-in")
    at: datetime | None = Field(description="Time of the newest sample; null when there is none in the last ten minutes")
    q_l: float | None = Field(description="Mean lookups over packets in flight: a packet deep in the chain is in flight for longer")
    q_r: float | None = Field(description="The same at its receivers")
    q_r_basis: Literal["peers", "own_ingress"] | None
    peers_known: float | None = Field(description="Share of the packets that goes to known RNICs; null without a report")
    bandwidth_gbps: Estimate | None
    latency_us: Estimate | None
    measured_gbps: float | None = Field(
        description="Mean of the minutes of which `bandwidth_gbps` is the mean; null where there are too few"
    )
    minutes: int = Field(description="Of the last minutes, those with an expected and a measured bandwidth; a verdict needs three")
    full: bool | None = Field(description="It carries what the model predicts, so the RNIC is the limit, not the traffic")
    above: bool | None = Field(description="It carries more than the interval allows: the profile is wrong for this RNIC")
    head_gbps: float
    head_us: float
    path: list[PathPoint]
