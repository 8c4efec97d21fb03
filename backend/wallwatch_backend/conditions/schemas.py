"""The data of the events."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from wallwatch_backend.incidents.schemas import Severity


class ForecastData(BaseModel):
    """An RNIC that is expected to reach a limit within the hour."""

    host: str
    pci: str
    rack: str | None
    model: str | None
    wall: str = Field(description="Id of the limit")
    label: str = Field(description="The limit in words")
    made_at: datetime
    chance: float = Field(description="Chance of reaching it within the hour")
    earliest_in_s: float | None
    likely_in_s: float | None = Field(description="Null: perhaps not within the hour")
    latest_in_s: float | None


class PolicyData(BaseModel):
    """A policy that was violated within the last hour."""

    policy: str
    title: str
    severity: Severity
    violations_1h: int
    violations_24h: int
    last_violation_at: datetime | None
    hosts: list[str] = Field(description="Hosts of the newest violations of the hour, at most 100")


class AgentData(BaseModel):
    """A host whose agent is not connected."""

    host: str
    last_seen_at: datetime | None = Field(description="Null: never since it was enrolled")


class CertificateData(BaseModel):
    """A host whose agent has not renewed its certificate in time."""

    host: str
    expires_at: datetime


class EndedData(BaseModel):
    """The subject whose condition is over, named as at its beginning."""

    kind: Literal["forecast", "policy", "agent", "certificate"]
    subject: str
    text: str
