"""Webhooks: subscriptions, event types and deliveries."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

from wallwatch_backend.kit.matchers import LabelName, Matcher, Matchers
from wallwatch_backend.kit.text import Line, StorableText
from wallwatch_backend.notify.states import DeliveryState


class EventType(StrEnum):
    opened = "incident.opened"
    updated = "incident.updated"
    resolved = "incident.resolved"
    remedy_pending = "remedy.pending"
    remedy_rejected = "remedy.rejected"
    remedy_approved = "remedy.approved"
    remedy_running = "remedy.running"
    remedy_verifying = "remedy.verifying"
    remedy_change_confirmed = "remedy.change_confirmed"
    remedy_confirmed = "remedy.confirmed"
    remedy_not_confirmed = "remedy.not_confirmed"
    remedy_failed = "remedy.failed"
    remedy_refused = "remedy.refused"
    remedy_expired = "remedy.expired"
    remedy_undone = "remedy.undone"
    rollout_pending = "rollout.pending"
    rollout_rejected = "rollout.rejected"
    rollout_running = "rollout.running"
    rollout_wave_started = "rollout.wave_started"
    rollout_wave_confirmed = "rollout.wave_confirmed"
    rollout_paused = "rollout.paused"
    rollout_stopped = "rollout.stopped"
    rollout_confirmed = "rollout.confirmed"
    rollout_undoing = "rollout.undoing"
    rollout_undo_paused = "rollout.undo_paused"
    rollout_undone = "rollout.undone"
    lab_finished = "lab.finished"
    lab_stopped = "lab.stopped"
    lab_failed = "lab.failed"
    forecast_expected = "forecast.expected"
    decline_expected = "decline.expected"
    policy_violated = "policy.violated"
    agent_lost = "agent.lost"
    certificate_late = "certificate.late"


INCIDENT_EVENTS = (EventType.opened, EventType.updated, EventType.resolved)
"""The default subscription."""

CONDITION_ENDS = {
    EventType.forecast_expected: "forecast.ended",
    EventType.decline_expected: "decline.ended",
    EventType.policy_violated: "policy.cleared",
    EventType.agent_lost: "agent.connected",
    EventType.certificate_late: "certificate.renewed",
}
"""Sent to every receiver that was notified of the beginning; nobody subscribes to them alone."""

REPEATED_EVENT = "incident.repeated"
GROUP_EVENT = "incident.group"
TEST_EVENT = "webhook.test"


class Format(StrEnum):
    native = "native"
    alertmanager = "alertmanager"
    alertmanager_api = "alertmanager_api"
    slack = "slack"
    teams = "teams"
    pagerduty = "pagerduty"
    opsgenie = "opsgenie"
    email = "email"


KEYED_FORMATS = (Format.pagerduty, Format.opsgenie)
"""Receivers that know the sender by a key, which is stored encrypted and added when a body is sent."""


DAY_S = 86_400
GROUP_WAIT_S, GROUP_INTERVAL_S = 30, 300
"""Defaults of webhooks with `group_by`: Alertmanager's values."""
ALERTMANAGER_REPEAT_S = 600
"""Default of webhooks in the format `alertmanager_api`: Alertmanager ends an alert that is not sent again."""

Url = Annotated[
    str,
    StringConstraints(min_length=8, max_length=2000, pattern=r"^(https?://|mailto:)[^\s]+$"),
    StorableText,
    Field(description="http:// or https://; with the format `email` the recipients: mailto:ann@example.org,bob@example.org"),
]
Credential = Annotated[
    str,
    StringConstraints(min_length=8, max_length=200, pattern=r"^[!-~]+$"),
    Field(description="PagerDuty's routing key, or Opsgenie's API key. It is stored encrypted, and never returned"),
]
Events = Annotated[list[EventType], Field(min_length=1, max_length=50, description="Events to send; default: those of incidents")]
GroupBy = Annotated[
    list[LabelName],
    Field(max_length=9, description="Incidents with equal values of these labels are sent together; none: each incident by itself"),
    AfterValidator(lambda names: list(dict.fromkeys(names))),
]
_WAIT = "Seconds from the first incident of a group to its first notification; default: 30 with group_by, else 0"
_INTERVAL = "Minimum seconds between two notifications of a group about changes; default: 300 with group_by, else 0"
_REPEAT = "Seconds after which the notification of an unresolved incident is repeated; null: never"
GroupWait = Annotated[int, Field(ge=0, le=DAY_S, description=_WAIT)]
GroupInterval = Annotated[int, Field(ge=0, le=7 * DAY_S, description=_INTERVAL)]
RepeatInterval = Annotated[int, Field(ge=60, le=30 * DAY_S, description=_REPEAT)]


class Webhook(BaseModel):
    id: UUID
    name: str
    url: str
    events: list[EventType]
    format: Format
    matchers: list[Matcher]
    group_by: list[LabelName]
    group_wait_s: int
    group_interval_s: int
    repeat_interval_s: int | None
    enabled: bool
    disabled_reason: str | None
    failing_since: datetime | None
    created_by: str
    created_at: datetime
    last_delivery_at: datetime | None = Field(description="Last successful delivery")
    dead_letters: int = Field(default=0, description="Failed deliveries that are still in the log")
    credential_fingerprint: str | None = Field(
        default=None, description="First 8 hexadecimal digits of the SHA-256 of `credential`: shows which key is stored"
    )


class NewWebhook(BaseModel):
    name: Line
    url: Url
    events: Events = Field(default_factory=lambda: list(INCIDENT_EVENTS))
    format: Format = Format.native
    matchers: Matchers = Field(default_factory=list)
    group_by: GroupBy = Field(default_factory=list)
    group_wait_s: GroupWait | None = None
    group_interval_s: GroupInterval | None = None
    repeat_interval_s: RepeatInterval | None = None
    credential: Credential | None = None


class CreatedWebhook(Webhook):
    secret: str = Field(description="Verifies signatures (Standard Webhooks, whsec_...); shown only once")


class WebhookChange(BaseModel):
    """Fields to change; others keep their values. Enabling clears `disabled_reason`."""

    name: Line | None = None
    url: Url | None = None
    events: Events | None = None
    enabled: bool | None = None
    format: Format | None = None
    matchers: Matchers | None = None
    group_by: GroupBy | None = None
    group_wait_s: GroupWait | None = None
    group_interval_s: GroupInterval | None = None
    credential: Credential | None = None
    repeat_interval_s: RepeatInterval | None = Field(default=None, description="null ends the repetition; left out: unchanged")

    @model_validator(mode="after")
    def _something(self) -> "WebhookChange":
        given = self.model_dump(exclude_none=True)
        if not given and "repeat_interval_s" not in self.model_fields_set:
            raise ValueError(f"give at least one of {', '.join(type(self).model_fields)}")
        return self


class Attempt(BaseModel):
    at: datetime
    status: int | None = Field(description="HTTP status; null if no answer came, and for e-mail")
    duration_ms: int
    error: str | None


class Delivery(BaseModel):
    id: UUID = Field(description="Also the webhook-id header of every attempt and replay")
    event: str
    about: str = Field(description="Description in a few words")
    state: DeliveryState
    attempts: list[Attempt] = Field(description="Oldest first")
    created_at: datetime
    delivered_at: datetime | None
    next_attempt_at: datetime | None


class DeliveryDetail(Delivery):
    body: str = Field(
        description="The exact text that is signed and sent. With `pagerduty` the routing key is added when it is sent; with `opsgenie` "
        "and `email` it is what the requests and messages are made of"
    )


class DeadLetter(Delivery):
    webhook_id: UUID
    webhook_name: str


class ReplayAll(BaseModel):
    webhook_id: UUID | None = Field(default=None, description="Only of this webhook; default: of all")


class Replayed(BaseModel):
    replayed: int = Field(description="Number of deliveries that are sent again")
