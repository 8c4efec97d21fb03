"""The native body: Standard Webhooks' `{type, timestamp, data}` around incidents as the API shows them. Its JSON Schema is made here."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import orjson
from pydantic import BaseModel, Field, TypeAdapter

from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.remedies.schemas import Remedy
from wallwatch_backend.rollouts.schemas import RolloutNews
from wallwatch_backend.webhooks.formats.happening import Happening
from wallwatch_backend.webhooks.formats.notification import Notification
from wallwatch_backend.webhooks.schemas import GROUP_EVENT, REPEATED_EVENT, TEST_EVENT


class IncidentEvent(BaseModel):
    """One incident opened, changed, was resolved, or is told again because nobody has resolved it."""

    type: Literal["incident.opened", "incident.updated", "incident.resolved", "incident.repeated"]
    timestamp: datetime = Field(description="When it happened (for a repetition: when it was due)")
    data: Incident


class IncidentGroup(BaseModel):
    """Incidents that a webhook with `group_by` hears of together."""

    group_key: str = Field(description="The same for each notification of the group")
    group_labels: dict[str, str]
    status: Literal["firing", "resolved"] = Field(description="firing: at least one is unresolved")
    reason: Literal["changed", "repeated"]
    incidents: list[Incident] = Field(description="The unresolved ones, and those resolved since the last notification")
    truncated: int = Field(description="How many more there are than these")


class GroupEvent(BaseModel):
    """A group changed, or is told again."""

    type: Literal["incident.group"]
    timestamp: datetime
    data: IncidentGroup


class RemedyEvent(BaseModel):
    """A remedy (no dry run) entered a state. `failed` is told of `failed`, `refused` and `not_verified`: `data.state` says which."""

    type: Literal[
        "remedy.proposed",
        "remedy.approved",
        "remedy.rejected",
        "remedy.dispatched",
        "remedy.running",
        "remedy.verified",
        "remedy.failed",
        "remedy.undone",
        "remedy.expired",
    ]
    timestamp: datetime
    data: Remedy


class RolloutEvent(BaseModel):
    """A rollout began, came to its next wave, was held up, or ended."""

    type: Literal[
        "rollout.proposed",
        "rollout.rejected",
        "rollout.started",
        "rollout.wave_started",
        "rollout.wave_done",
        "rollout.paused",
        "rollout.resumed",
        "rollout.stopped",
        "rollout.done",
        "rollout.undo_started",
        "rollout.undone",
    ]
    timestamp: datetime
    data: RolloutNews


class TestData(BaseModel):
    webhook_id: UUID
    text: str


class TestEvent(BaseModel):
    """Someone pressed the test button."""

    type: Literal["webhook.test"]
    timestamp: datetime
    data: TestData


NativeBody = IncidentEvent | GroupEvent | RemedyEvent | RolloutEvent | TestEvent


def _body(event: str, at: datetime, data: Any) -> str:
    return orjson.dumps({"type": event, "timestamp": at, "data": data}, option=orjson.OPT_UTC_Z).decode()


def body(notification: Notification) -> str:
    if not notification.grouped:
        event = REPEATED_EVENT if notification.repeated else notification.event
        return _body(event, notification.at, notification.incidents[0])
    data = {
        "group_key": notification.group_key,
        "group_labels": notification.group_labels,
        "status": notification.status,
        "reason": "repeated" if notification.repeated else "changed",
        "incidents": notification.shown,
        "truncated": notification.left_out,
    }
    return _body(GROUP_EVENT, notification.at, data)


def happening_body(happening: Happening) -> str:
    return _body(str(happening.event), happening.at, happening.data)


def test_body(webhook_id: UUID, text: str, at: datetime) -> str:
    return _body(TEST_EVENT, at, {"webhook_id": str(webhook_id), "text": text})


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of every native body."""
    document = TypeAdapter(NativeBody).json_schema(mode="serialization", ref_template="#/$defs/{model}")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Wallwatch webhook, native format",
        "description": "Body of a webhook with the format `native`. Later versions may add properties; those that are here stay.",
        **document,
    }
