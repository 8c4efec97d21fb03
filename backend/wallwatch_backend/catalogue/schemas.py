"""The catalogue: labels and units that the UI shows, and how symptoms are defined."""

from pydantic import BaseModel, ConfigDict, Field


class BoundInfo(BaseModel):
    """A comparison: one of the four is given."""

    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None


class ConditionInfo(BaseModel):
    """One signal of a definition, over a window of event time."""

    model_config = ConfigDict(populate_by_name=True)

    signal: str
    label: str
    unit: str
    role: str = Field(description="required (raises and clears), gate (must hold to raise) or supporting (evidence only)")
    alternative: str | None = Field(default=None, description="Conditions with the same name here are alternatives")
    window_s: int
    statistic: str
    raise_: BoundInfo = Field(alias="raise", serialization_alias="raise")
    clear: BoundInfo | None
    text: str


class CriticalWhen(BoundInfo):
    signal: str
    label: str
    unit: str


class DefinitionRemedy(BaseModel):
    action: str
    why: str


class DefinitionInfo(BaseModel):
    """How a symptom is detected."""

    rule: str
    blast_radius: str
    severity: str = Field(description="Before any of `critical_when` holds")
    raise_for_s: int = Field(description="Seconds for which the conditions must hold")
    clear_for_s: int
    conditions: list[ConditionInfo]
    critical_when: list[CriticalWhen] = Field(description="Any of them makes it critical")
    not_with: dict[str, int] = Field(description="Symptom and seconds: not raised while that one lasts, nor for so long after it")
    summary: str
    remedies: list[DefinitionRemedy]


class SymptomInfo(BaseModel):
    id: str
    title: str
    layer: str | None
    ratio: float | None = Field(description="Share of a year's performance issues (paper, Table 1)")
    cause: str | None
    looks_like: str | None
    near_misses: list[str] = Field(description="What looks like it and is not")
    definition: DefinitionInfo | None = Field(description="Null when something other than thresholds detects it")


class CauseInfo(BaseModel):
    id: str
    title: str
    prior: float | None
    statement: str | None
    next_test: str | None
    explains: dict[str, float] = Field(description="Symptom and how probable it is when the cause is present")
    settled_by_upgrade: bool
    remedies: list[str]


class WallInfo(BaseModel):
    id: str
    label: str
    unit: str
    leads_to: list[str]


class SignalInfo(BaseModel):
    """A signal of evidence or of a definition."""

    signal: str
    label: str
    unit: str
    fields: list[str] = Field(description="Fields of an RNIC's series that show it; empty when there is none")


class FieldInfo(BaseModel):
    name: str
    measurement: str
    label: str
    unit: str
    kind: str = Field(description="counter, gauge or text")
    meaning: str


class Catalogue(BaseModel):
    symptoms: list[SymptomInfo]
    causes: list[CauseInfo]
    walls: list[WallInfo]
    models: list[str]
    signals: list[SignalInfo]
    fields: list[FieldInfo]
