"""What-if questions about one card, and their answers. Rates are in kpps, shares are of one."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints, model_validator

from wallwatch_backend.contention.models.schemas import Cores, Firmware, FunctionName, NicModel, SlaDrop

MOST_RESIDENTS = 16
ResidentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._/-]{0,251}[A-Za-z0-9])?$")]
Rate = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]


class Traffic(BaseModel):
    flows: Annotated[float, Field(ge=1, le=1e9, allow_inf_nan=False)]
    packet_bytes: Annotated[float, Field(ge=60, le=9600, allow_inf_nan=False)] = 1518
    mtbr: Annotated[float, Field(ge=0, le=1e5, allow_inf_nan=False, description="Matches per MB")] = 0


class OwnCounters(BaseModel):
    """What a function itself does to the memory subsystem."""

    ipc: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
    instructions: Rate
    l2_reads: Rate
    l2_writes: Rate
    memory_reads: Rate
    memory_writes: Rate
    working_set_mb: Annotated[float, Field(ge=0, le=1024, allow_inf_nan=False)]


class Resident(Traffic):
    name: ResidentName = Field(description="Unique on the card, such as a pod's name")
    function: FunctionName | None = Field(description="Function with an active model; null: it is load for the others only")
    counters: OwnCounters | None = Field(None, description="Measured; default: the own load of its model at these flows")
    cores: Cores | None = Field(None, description="Default: the function's terms")
    sla_drop: SlaDrop | None = Field(None, description="Default: the function's terms")
    measured_kpps: Rate | None = None
    offered_kpps: Rate | None = Field(None, description="What arrives for it; default: all that it can process")

    @model_validator(mode="after")
    def _load_is_known(self) -> "Resident":
        if self.function is None and self.counters is None:
            raise ValueError("without a function, counters are required")
        return self


class PredictionRequest(BaseModel):
    nic_model: NicModel
    firmware: Firmware = ""
    cores: Cores = Field(8, description="Cores of the card")
    residents: list[Resident] = Field(max_length=MOST_RESIDENTS)
    candidate: Resident | None = Field(None, description="A function that might be added")

    @model_validator(mode="after")
    def _names_are_unique(self) -> "PredictionRequest":
        names = [resident.name for resident in (*self.residents, *([] if self.candidate is None else [self.candidate]))]
        if len(set(names)) != len(names):
            raise ValueError("each function on a card needs its own name")
        return self


class Contributor(BaseModel):
    name: str
    kpps: float = Field(description="What would come back if it were away")


class PredictedFunction(BaseModel):
    name: str
    function: str
    version: int = Field(description="Number of the model's version")
    cores: int
    throughput_kpps: float
    low_kpps: float = Field(description="Ends of the 90% interval")
    high_kpps: float
    solo_kpps: float = Field(description="With the same traffic and no competitors")
    measured_kpps: float | None
    offered_kpps: float | None = Field(description="What arrives: more cannot be processed")
    deviation: float | None = Field(description="measured / predicted - 1, where no more is expected than arrives")
    drop: float = Field(description="Share of the solo throughput that competitors take")
    worst_drop: float = Field(description="The same at the lower end of the interval")
    sla_drop: float | None
    sla_value: float = Field(
        description="Share of the solo throughput that is lost: measured where less is processed than arrives, else predicted"
    )
    headroom: float | None = Field(description="1 - sla_value / sla_drop; null where nothing is promised")
    lost_memory_kpps: float
    lost_accelerator_kpps: float
    bottleneck: str | None = Field(description="memory or accelerator; null when competitors take nothing")
    binding: str = Field(description="The slower resource, contended or not")
    shifts_at_mtbr: float | None = Field(description="Above this match-to-byte ratio the accelerator is the slower resource")
    contributors: list[Contributor] = Field(description="Largest first")
    outside: list[str] = Field(description="Inputs outside of the training range: the interval is widened")
    unknown_competitors: list[str] = Field(description="Their counters are unknown, so this prediction is too high")


class Admission(BaseModel):
    """What happens if the candidate is added."""

    admitted: bool = Field(description="There are cores for it, and every function keeps its SLA")
    reasons: list[str] = Field(description="Why not")
    cores_used: int
    functions: list[PredictedFunction] = Field(description="Residents and candidate, predicted together")


class CardPrediction(BaseModel):
    cores: int
    cores_used: int
    functions: list[PredictedFunction]
    admission: Admission | None = Field(description="Null without a candidate")
