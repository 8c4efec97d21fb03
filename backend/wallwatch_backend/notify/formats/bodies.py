"""Builds a body in the webhook's format."""

from datetime import datetime
from uuid import UUID

from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats import alertmanager, native, slack
from wallwatch_backend.notify.formats.notification import Notification
from wallwatch_backend.notify.schemas import Format

_NOTIFICATION_BODIES = {
    Format.native: native.notification_body,
    Format.alertmanager: alertmanager.notification_body,
    Format.slack: slack.notification_body,
}


def notification_body(format: Format, notification: Notification) -> str:
    """The body of a notification about incidents."""
    return _NOTIFICATION_BODIES[format](notification)


def order_event_body(format: Format, event: OrderEvent, receiver: str, webhook_id: UUID) -> str:
    """The body of an event of a remedy or a rollout."""
    if format is Format.alertmanager:
        return alertmanager.order_event_body(event, receiver, webhook_id)
    if format is Format.slack:
        return slack.order_event_body(event)
    return native.order_event_body(event)


def test_event_body(format: Format, webhook_id: UUID, receiver: str, text: str, at: datetime, public_url: str | None) -> str:
    """The body of the test event."""
    if format is Format.alertmanager:
        return alertmanager.test_event_body(webhook_id, receiver, text, at, public_url)
    if format is Format.slack:
        return slack.test_event_body(text)
    return native.test_event_body(webhook_id, text, at)
