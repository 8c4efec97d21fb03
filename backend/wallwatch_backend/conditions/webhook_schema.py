"""The native bodies of events of conditions (docs/webhook-native.schema.json)."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from wallwatch_backend.conditions.schemas import AgentData, CertificateData, DeclineData, EndedData, ForecastData, PolicyData


class ForecastEvent(BaseModel):
    """An RNIC is expected to reach a limit."""

    type: Literal["forecast.expected"]
    timestamp: datetime
    data: ForecastData


class DeclineEvent(BaseModel):
    """An RNIC is predicted to lose bandwidth."""

    type: Literal["decline.expected"]
    timestamp: datetime
    data: DeclineData


class PolicyEvent(BaseModel):
    """A policy is violated."""

    type: Literal["policy.violated"]
    timestamp: datetime
    data: PolicyData


class AgentEvent(BaseModel):
    """A host's agent is not connected."""

    type: Literal["agent.lost"]
    timestamp: datetime
    data: AgentData


class CertificateEvent(BaseModel):
    """An agent has not renewed its certificate in time."""

    type: Literal["certificate.late"]
    timestamp: datetime
    data: CertificateData


class EndedEvent(BaseModel):
    """A condition of which the receiver was notified is over."""

    type: Literal["forecast.ended", "decline.ended", "policy.cleared", "agent.connected", "certificate.renewed"]
    timestamp: datetime
    data: EndedData


ConditionEvent = ForecastEvent | DeclineEvent | PolicyEvent | AgentEvent | CertificateEvent | EndedEvent
