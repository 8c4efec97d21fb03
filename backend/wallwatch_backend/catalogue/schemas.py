"""The catalogue: labels and units that the UI shows."""

from pydantic import BaseModel, Field


class SymptomInfo(BaseModel):
    id: str
    title: str
    layer: str | None
    ratio: float | None = Field(description="Share of a year's performance issues (paper, Table 1)")
    cause: str | None


class CauseInfo(BaseModel):
    id: str
    title: str
    prior: float | None
    statement: str | None
    next_test: str | None


class WallInfo(BaseModel):
    id: str
    label: str
    unit: str
    leads_to: list[str]


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
    fields: list[FieldInfo]
