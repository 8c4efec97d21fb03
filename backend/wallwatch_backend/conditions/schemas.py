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


class DeclineData(BaseModel):
    """An RNIC whose bandwidth is predicted to decline by 5% or more within the hour."""

    host: str
    pci: str
    rack: str | None
    model: str | None
    made_at: datetime
    since: datetime | None = Field(description="When this decline was first predicted")
    share: float | None = Field(description="Share of the bandwidth that the median of the forecast loses; null: less than 5%")
    chance: float | None = Field(description="Chance of a decline of 5% or more within the hour")
    in_s: float | None = Field(description="When it is more likely than not; null: at some time within the hour")
    bandwidth_gbps: float | None = Field(description="Bandwidth now, as the forecast has it")
    confidence: str | None = Field(description="`low`, `medium` or `high`: what the forecast was learnt from")


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

    kind: Literal["forecast", "decline", "policy", "agent", "certificate"]
    subject: str
    text: str
