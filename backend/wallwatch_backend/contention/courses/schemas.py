"""What functions of a card lost and will lose, and which cards are close to an SLA. Rates are in kpps, shares are of one."""

from datetime import datetime

from pydantic import BaseModel, Field


class PastPoint(BaseModel):
    """Means of one minute; null is unknown."""

    at: datetime = Field(description="Its beginning")
    flows: float | None
    packet_bytes: float | None
    mtbr: float | None
    measured_kpps: float | None
    offered_kpps: float | None
    predicted_kpps: float | None = Field(description="Null without an active model")
    predicted_loss: float | None = Field(description="Share of the solo throughput that the model says competitors take")
    loss: float | None = Field(description="By which the SLA is judged: measured where less is processed than arrives, else predicted")
    error: float | None = Field(
        description="measured / predicted - 1, where the function processes less than arrives and its model can say"
    )


class ComingPoint(BaseModel):
    """If the traffic of the card goes on as it does."""

    in_min: int
    flows: float
    packet_bytes: float
    mtbr: float
    predicted_kpps: float
    loss: float


class TrafficTrend(BaseModel):
    """Per hour; what has no trend is 1 or 0."""

    flows_factor: float
    packet_bytes_factor: float
    mtbr_change: float = Field(description="Matches per MB")


class FunctionCourse(BaseModel):
    name: str
    function: str
    version: int | None = Field(description="Number of the active model's version; null: there is none for this card")
    model_mape: float | None = Field(description="Its mean error of rows that were left out of the training, in percent")
    recent_mape: float | None = Field(description="Mean error of the points that test it, in percent; null where none does")
    sla_drop: float | None
    trend: TrafficTrend | None = Field(description="Null without a trend")
    breaks_in_min: int | None = Field(
        description="When the SLA breaks if all traffic of the card goes on as it does; null: not within the hour"
    )
    past: list[PastPoint]
    coming: list[ComingPoint] = Field(description="Empty where no traffic of the card has a trend, or without a model")


class CardCourse(BaseModel):
    host: str
    pci: str
    hours: float = Field(description="How far back it goes")
    functions: list[FunctionCourse] = Field(description="Those that run now")


class CardHeadroom(BaseModel):
    """The function of a card that is closest to its SLA."""

    host: str
    pci: str
    function: str = Field(description="Its pod, else its container, else the function")
    loss: float
    sla_drop: float
    headroom: float = Field(description="1 - loss / sla_drop; below 0 the SLA is broken")


class CardHeadrooms(BaseModel):
    items: list[CardHeadroom]
    next_cursor: None = Field(default=None, description="All cards with models and SLAs are in one answer")
