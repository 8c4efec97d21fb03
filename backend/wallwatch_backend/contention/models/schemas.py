"""Models of network functions as the API takes and returns them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.profile_files import ProfileKind
from wallwatch_backend.kit.text import Line, Paragraph, SafeText, StorableText

FunctionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
NicModel = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]{0,49}$")]
Firmware = Annotated[str, StringConstraints(max_length=100), StorableText]
VersionState = Literal["candidate", "refused", "active", "retired"]
Cores = Annotated[int, Field(ge=1, le=64)]
SlaDrop = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]


class UploadedProfile(BaseModel):
    name: Annotated[str, StringConstraints(min_length=1, max_length=300), StorableText] = Field(
        description="The name says what the file holds: mem_train, reg_train, slomo_train or own_load is part of it"
    )
    text: Annotated[SafeText, Field(max_length=200_000, description="Blank-separated rows without a header")]


class NewNfModel(BaseModel):
    function: FunctionName
    nic_model: NicModel = Field(description="Model of the card on which it was measured, such as BF-2")
    firmware: Firmware = Field("", description="Empty: all firmwares")
    pattern: Pattern = Pattern.PIPELINE
    files: list[UploadedProfile] = Field(min_length=1, max_length=4)
    note: Annotated[str, StringConstraints(max_length=4000, strip_whitespace=True), StorableText] = ""


class NfReason(BaseModel):
    reason: Line | Paragraph = Field(description="Shown in the audit log")


class NfRollBack(NfReason):
    function: FunctionName
    nic_model: NicModel
    firmware: Firmware = ""


class TrainingRange(BaseModel):
    """Values outside of it are flagged, and their intervals widened."""

    name: str
    unit: str
    low: float
    high: float


class TrainingFile(BaseModel):
    name: str
    kind: ProfileKind
    rows: int
    sha256: str


class Accelerator(BaseModel):
    """Time per packet: `t0 + a MTBR`, in 1/kpps."""

    queues: int
    t0: float
    a: float


class NfVersionSummary(BaseModel):
    id: UUID
    number: int
    state: VersionState
    pattern: Pattern
    rows: int = Field(description="Of the memory profile")
    mape: float = Field(description="Mean error of rows that were left out, in percent")
    within_5: float = Field(description="Share of these rows within 5%, in percent")
    within_10: float
    reasons: list[str] = Field(description="Why it was accepted or refused")
    accelerator: Accelerator | None = Field(description="Null without a profile of the accelerator")
    own_load_known: bool = Field(description="Whether its effect on others is known: without it, its neighbours are not predicted")
    ranges: list[TrainingRange]
    note: str
    created_by: str
    created_at: datetime
    promoted_by: str | None
    promoted_at: datetime | None
    retired_at: datetime | None


class OwnLoadPoint(BaseModel):
    flows: float
    ipc: float
    instructions: float
    l2_reads: float
    l2_writes: float
    memory_reads: float
    memory_writes: float
    working_set_mb: float


class NfVersion(NfVersionSummary):
    """A version with its whole model card."""

    function: str
    nic_model: str
    firmware: str
    files: list[TrainingFile]
    own_load: list[OwnLoadPoint]


class FunctionTerms(BaseModel):
    cores: Cores = Field(2, description="Cores that it needs on a card")
    sla_drop: SlaDrop | None = Field(None, description="Share of its solo throughput that it may lose; null: nothing is promised")


class NetworkFunction(FunctionTerms):
    name: str
    version: int
    updated_at: datetime
    updated_by: str


class NfModel(BaseModel):
    """The versions of one function on one card model and firmware."""

    function: str
    nic_model: str
    firmware: str
    active: int | None = Field(description="Number of the active version; null: none")
    terms: FunctionTerms
    versions: list[NfVersionSummary] = Field(description="Newest first")


class NfModels(BaseModel):
    items: list[NfModel]
    next_cursor: None = Field(default=None, description="All models are in one answer")
