"""The native body: Standard Webhooks' `{type, timestamp, data}`, with `data` as the API shows it.

Each context declares the schema of its own events (`webhook_schema.py`); `wallwatch_backend.webhook_schema` composes the document.
"""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import orjson
from pydantic import BaseModel

from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats.notification import Notification
from wallwatch_backend.notify.schemas import GROUP_EVENT, REPEATED_EVENT, TEST_EVENT


class TestData(BaseModel):
    webhook_id: UUID
    text: str


class TestEvent(BaseModel):
    """Someone sent a test event."""

    type: Literal["webhook.test"]
    timestamp: datetime
    data: TestData


def _body(event: str, at: datetime, data: Any) -> str:
    return orjson.dumps({"type": event, "timestamp": at, "data": data}, option=orjson.OPT_UTC_Z).decode()


def notification_body(notification: Notification) -> str:
    if not notification.grouped:
        event = REPEATED_EVENT if notification.repeated else notification.event
        return _body(event, notification.at, notification.incidents[0])
    data = {
        "group_key": notification.group_key,
        "group_labels": notification.group_labels,
        "status": notification.status,
        "reason": "repeated" if notification.repeated else "changed",
        "incidents": notification.included,
        "truncated": notification.truncated,
    }
    return _body(GROUP_EVENT, notification.at, data)


def order_event_body(event: OrderEvent) -> str:
    return _body(str(event.event), event.at, event.data)


def test_event_body(webhook_id: UUID, text: str, at: datetime) -> str:
    return _body(TEST_EVENT, at, {"webhook_id": str(webhook_id), "text": text})
