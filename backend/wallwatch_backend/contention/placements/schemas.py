"""A batch of functions to place, and where they go."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator

from wallwatch_backend.contention.models.schemas import Cores, Firmware, FunctionName, NicModel, SlaDrop
from wallwatch_backend.contention.predictions.schemas import ResidentName, Traffic

MOST_FUNCTIONS, MOST_CARDS = 1000, 1000
CardName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.:_/ -]{0,252}[A-Za-z0-9])?$")]
Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$")]
Method = Literal["optimum", "fullest", "greedy", "monopolise"]


class FunctionToPlace(Traffic):
    name: ResidentName = Field(description="Unique in the batch")
    function: FunctionName = Field(description="Function with an active model")
    count: int = Field(1, ge=1, le=MOST_FUNCTIONS, description="Above 1, -1, -2, ... is added to the name")
    cores: Cores | None = Field(None, description="Default: the function's terms")
    sla_drop: SlaDrop | None = Field(None, description="Default: the function's terms")
    card: CardName | None = Field(None, description="Where it runs now")


class CardToFill(BaseModel):
    name: CardName
    host: Host | None = Field(None, description="Kubernetes node of the card; default: the name up to the first space or slash")
    cores: Cores = 8


class PlacementRequest(BaseModel):
    nic_model: NicModel
    firmware: Firmware = ""
    functions: list[FunctionToPlace] = Field(min_length=1, max_length=MOST_FUNCTIONS)
    cards: list[CardToFill] = Field(min_length=1, max_length=MOST_CARDS)
    method: Method = Field("optimum", description="optimum: the fewest cards for the whole batch; the others place one by one")
    margin: Annotated[float, Field(ge=0, le=0.5, allow_inf_nan=False)] = Field(
        0.005, description="Predicted drops stay this share of the solo throughput below the SLA"
    )
    cautious: bool = Field(False, description="Judge by the lower end of the 90% interval")

    @model_validator(mode="after")
    def _names_are_unique(self) -> "PlacementRequest":
        for what, names in (("function", [f.name for f in self.functions]), ("card", [c.name for c in self.cards])):
            if len(set(names)) != len(names):
                raise ValueError(f"each {what} needs its own name")
        if sum(function.count for function in self.functions) > MOST_FUNCTIONS:
            raise ValueError(f"at most {MOST_FUNCTIONS} functions are placed at once")
        return self


class PlacedFunction(BaseModel):
    name: str
    function: str
    cores: int
    solo_kpps: float
    throughput_kpps: float
    drop: float
    sla_drop: float
    violates: bool
    chance: float = Field(description="Chance that its SLA breaks, given the error of its model")
    bottleneck: str | None
    moved_from: str | None = Field(description="Its present card, where that is another one")


class FilledCard(BaseModel):
    name: str
    host: str
    functions: list[PlacedFunction]


class CardPlan(BaseModel):
    cards: list[FilledCard]
    cards_used: int
    violations: int = Field(description="Functions that are predicted to lose more than their SLA allows")
    expected_violations: float = Field(description="The same with the errors of the models: the sum of all chances")
    unplaced: list[str] = Field(description="Functions for which no card is left")


class Affinity(BaseModel):
    name: str
    affinity: dict[str, Any] = Field(description="`affinity` of the pod's specification")


class PlacementPlan(CardPlan):
    lower_bound: int | None = Field(description="Cards that every assignment needs; null where it was not computed")
    moves: int = Field(description="Functions whose card changes")
    present: CardPlan | None = Field(description="Where the functions run now; null when no function names its card")
    affinities: list[Affinity] = Field(description="Kubernetes node affinity per function")
