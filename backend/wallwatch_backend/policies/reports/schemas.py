"""Violations as callers see them."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field

from wallwatch_backend.policies.formulas.schemas import Verdict


class TraceStep(BaseModel):
    at: datetime
    host: str | None = Field(default=None, description="Where it differs from the violation's")
    kinds: list[str] = Field(description="Kinds of the events of this step; empty for a timer, or where they are not stored")
    propositions: list[str] = Field(description="Propositions of this policy; empty where the step has none")
    text: str
    state: int | None = Field(description="State of the automaton after it; null where it is unknown")
    verdict: Verdict | None


class PolicyViolation(BaseModel):
    id: str
    policy: str
    at: datetime
    host: str
    pci: str
    subject: str
    severity: Literal["warning", "critical"]
    text: str
    inhibited_by: UUID | None = Field(default=None, description="The remedy that caused it; such violations are not counted")
    revision: str
    version: int | None = Field(description="The version that was violated, where it is still known; 0 for a policy of the catalogue")
    left_out: int = Field(description="Further violations that the host counted but did not report one by one")
    cut: bool = Field(description="Steps before the first shown are no longer known")
    start: int | None = Field(description="State before the first shown step")
    trace: list[TraceStep]
