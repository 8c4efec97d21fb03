"""Builds a body in the webhook's format."""

from datetime import datetime
from uuid import UUID

from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats import alarm, alertmanager, alertmanager_api, mail, native, opsgenie, pagerduty, slack, teams
from wallwatch_backend.notify.formats.notification import Notification
from wallwatch_backend.notify.schemas import Format

_NOTIFICATION_BODIES = {
    Format.native: native.notification_body,
    Format.alertmanager: alertmanager.notification_body,
    Format.alertmanager_api: alertmanager_api.notification_body,
    Format.slack: slack.notification_body,
    Format.teams: teams.notification_body,
    Format.pagerduty: lambda notification: pagerduty.body(alarm.alarm_of_notification(notification)),
    Format.opsgenie: lambda notification: opsgenie.body(alarm.alarm_of_notification(notification)),
    Format.email: mail.notification_body,
}


def notification_body(format: Format, notification: Notification) -> str:
    """The body of a notification about incidents."""
    return _NOTIFICATION_BODIES[format](notification)


def order_event_body(format: Format, event: OrderEvent, receiver: str, webhook_id: UUID, repeat_interval_s: int | None) -> str:
    """The body of an event of a remedy, a rollout or a condition."""
    match format:
        case Format.alertmanager:
            return alertmanager.order_event_body(event, receiver, webhook_id)
        case Format.alertmanager_api:
            return alertmanager_api.order_event_body(event, repeat_interval_s)
        case Format.slack:
            return slack.order_event_body(event)
        case Format.teams:
            return teams.order_event_body(event)
        case Format.pagerduty:
            return pagerduty.body(alarm.alarm_of_order(event))
        case Format.opsgenie:
            return opsgenie.body(alarm.alarm_of_order(event))
        case Format.email:
            return mail.order_event_body(event)
        case Format.native:
            return native.order_event_body(event)


def test_event_body(format: Format, webhook_id: UUID, receiver: str, text: str, at: datetime, public_url: str | None) -> str:
    """The body of the test event."""
    match format:
        case Format.alertmanager:
            return alertmanager.test_event_body(webhook_id, receiver, text, at, public_url)
        case Format.alertmanager_api:
            return alertmanager_api.test_event_body(webhook_id, text, at, public_url)
        case Format.slack:
            return slack.test_event_body(text)
        case Format.teams:
            return teams.test_event_body(text)
        case Format.pagerduty:
            return pagerduty.body(alarm.alarm_of_test(webhook_id, text, at, public_url))
        case Format.opsgenie:
            return opsgenie.body(alarm.alarm_of_test(webhook_id, text, at, public_url))
        case Format.email:
            return mail.test_event_body(webhook_id, text)
        case Format.native:
            return native.test_event_body(webhook_id, text, at)
