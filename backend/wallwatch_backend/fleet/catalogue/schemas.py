"""The catalogue: labels and units for the UI, and definitions of symptoms."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wallwatch_backend.kit.states import State


class BoundInfo(BaseModel):
    """A comparison: one of the four is set."""

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
    raise_for_s: int = Field(description="How long the conditions must hold, seconds")
    clear_for_s: int
    conditions: list[ConditionInfo]
    critical_when: list[CriticalWhen] = Field(description="Any of them raises the severity to critical")
    not_with: dict[str, int] = Field(description="Symptom → seconds: not raised while that one is active, nor for so long after it clears")
    summary: str
    remedies: list[DefinitionRemedy]


class KnownModel(BaseModel):
    """A model that is known for a behaviour."""

    model: str
    firmware: str
    figures: str
    source: str


class BehaviourInfo(BaseModel):
    """What a behaviour of transport engines (B1 to B8) has beyond a symptom."""

    seen_in: Literal["telemetry", "captures"] = Field(description="Captures: no counter shows it, so it has no definition")
    known_on: list[KnownModel]
    applies_to: list[str] = Field(description="Models on which it is judged; empty means all")
    advice: str = Field(description="What to do about it, where no remedy changes it")
    ticket: str = Field(description="Text for a ticket at the vendor")


class SymptomInfo(BaseModel):
    id: str
    title: str
    layer: str | None
    ratio: float | None = Field(description="Share of a year's performance issues (paper, Table 1)")
    cause: str | None
    looks_like: str | None
    near_misses: list[str] = Field(description="Conditions that look alike but are not it")
    definition: DefinitionInfo | None = Field(description="Null when it is not detected by thresholds")
    behaviour: BehaviourInfo | None = Field(description="Of behaviours of transport engines, B1 to B8; else null")


class CauseInfo(BaseModel):
    id: str
    title: str
    prior: float | None
    statement: str | None
    next_test: str | None
    explains: dict[str, float] = Field(description="Symptom → its probability when the cause is present")
    settled_by_upgrade: bool
    remedies: list[str]


class WallInfo(BaseModel):
    id: str
    label: str
    unit: str
    signal: str = Field(description="Field of `rnic_offload` that is compared with the limit")
    leads_to: list[str]


class SignalInfo(BaseModel):
    """A signal in evidence or definitions."""

    signal: str
    label: str
    unit: str


class FieldInfo(BaseModel):
    name: str
    measurement: str
    label: str
    unit: str
    kind: str = Field(description="counter, gauge or text")
    meaning: str


class StateMachines(BaseModel):
    """Every state machine of the API, each state once, in the order in which states are usually entered."""

    remedy: list[State]
    command: list[State] = Field(description="Of a command to an agent; a remedy has one command per dry run, apply and undo")
    rollout: list[State]
    plan: list[State]
    run: list[State] = Field(description="Of an automation rule at one place")
    incident: list[State]
    campaign: list[State] = Field(description="Of the lab")


class WordInfo(BaseModel):
    """A value of the API with its label and meaning."""

    id: str
    label: str
    meaning: str


class IsolationWords(BaseModel):
    states: list[WordInfo] = Field(description="Of a VF in a second")
    mechanisms: list[WordInfo] = Field(description="What was overloaded when promises were broken")
    roles: list[WordInfo]


class DomainCatalogue(BaseModel):
    symptoms: list[SymptomInfo]
    causes: list[CauseInfo]
    walls: list[WallInfo]
    models: list[str]
    signals: list[SignalInfo]
    fields: list[FieldInfo]
    isolation: IsolationWords


class Catalogue(DomainCatalogue):
    states: StateMachines
