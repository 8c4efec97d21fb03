"""Chooses the form of a body."""

from datetime import datetime
from uuid import UUID

from wallwatch_backend.webhooks.formats import alertmanager, native, slack
from wallwatch_backend.webhooks.formats.happening import Happening
from wallwatch_backend.webhooks.formats.notification import Notification
from wallwatch_backend.webhooks.schemas import Format

_BODIES = {Format.native: native.body, Format.alertmanager: alertmanager.body, Format.slack: slack.body}


def body_of(format: Format, notification: Notification) -> str:
    return _BODIES[format](notification)


def happening_body_of(format: Format, happening: Happening, receiver: str, webhook_id: UUID) -> str:
    """The body of an event of a remedy or a rollout."""
    if format is Format.alertmanager:
        return alertmanager.happening_body(happening, receiver, webhook_id)
    if format is Format.slack:
        return slack.happening_body(happening)
    return native.happening_body(happening)


def test_body_of(format: Format, webhook_id: UUID, receiver: str, text: str, at: datetime, public_url: str | None) -> str:
    """The body of the test button."""
    if format is Format.alertmanager:
        return alertmanager.test_body(webhook_id, receiver, text, at, public_url)
    if format is Format.slack:
        return slack.test_body(text)
    return native.test_body(webhook_id, text, at)
