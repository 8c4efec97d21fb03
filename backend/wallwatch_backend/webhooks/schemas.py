"""Webhooks: subscriptions and deliveries."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints, model_validator

from wallwatch_backend.kit.text import Line, StorableText


class EventType(StrEnum):
    opened = "incident.opened"
    updated = "incident.updated"
    resolved = "incident.resolved"


TEST_EVENT = "webhook.test"

Url = Annotated[str, StringConstraints(min_length=8, max_length=2000, pattern=r"^https?://[^\s]+$"), StorableText]
Events = Annotated[list[EventType], Field(min_length=1, max_length=10, description="Which events are sent")]


class Webhook(BaseModel):
    id: UUID
    name: str
    url: str
    events: list[EventType]
    enabled: bool
    disabled_reason: str | None
    failing_since: datetime | None
    created_by: str
    created_at: datetime
    last_delivery_at: datetime | None = Field(description="Last successful delivery")


class NewWebhook(BaseModel):
    name: Line
    url: Url
    events: Events = Field(default_factory=lambda: list(EventType))


class CreatedWebhook(Webhook):
    secret: str = Field(description="Verifies signatures (Standard Webhooks, whsec_...); shown only now")


class WebhookChange(BaseModel):
    """What to change; whatever is left out stays. Enabling clears the reason for which it was switched off."""

    name: Line | None = None
    url: Url | None = None
    events: Events | None = None
    enabled: bool | None = None

    @model_validator(mode="after")
    def _something(self) -> "WebhookChange":
        if not any(value is not None for value in (self.name, self.url, self.events, self.enabled)):
            raise ValueError("give at least one of name, url, events, enabled")
        return self


class DeliveryState(StrEnum):
    pending = "pending"
    delivered = "delivered"
    failed = "failed"


class Attempt(BaseModel):
    at: datetime
    status: int | None = Field(description="HTTP status; null when no answer came")
    duration_ms: int
    error: str | None


class Delivery(BaseModel):
    id: UUID
    event: str
    state: DeliveryState
    attempts: list[Attempt] = Field(description="Oldest first")
    created_at: datetime
    delivered_at: datetime | None
    next_attempt_at: datetime | None
