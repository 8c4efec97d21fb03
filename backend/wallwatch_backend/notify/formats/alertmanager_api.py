"""Alerts for Alertmanager's own API (`POST /api/v2/alerts`), so that its routes, silences and receivers serve Wallwatch too.

Alertmanager knows an alert by its labels alone, and ends one by itself unless it is sent again before `endsAt`. So the labels here are
those that do not change with the evidence (the cause is an annotation), and a webhook in this format always repeats.

https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats import alertmanager
from wallwatch_backend.notify.formats.notification import Notification, is_resolved
from wallwatch_backend.notify.schemas import ALERTMANAGER_REPEAT_S

LIVES_FOR_REPEATS = 3
"""An alert outlives this many pauses: two may be lost to an outage before Alertmanager calls it resolved."""
ORDER_LIVES = timedelta(days=1)
"""A remedy or rollout is not repeated; one that takes longer than this is waiting for a person."""
TEST_LIVES = timedelta(minutes=5)


def notification_body(notification: Notification) -> str:
    return _dumps([_alert(notification, incident) for incident in notification.included])


def _alert(notification: Notification, incident: Mapping[str, Any]) -> dict[str, Any]:
    labels = alertmanager.alert_labels(incident)
    cause = labels.pop("cause", None)
    ended = is_resolved(incident)
    return {
        "labels": labels,
        "annotations": alertmanager.alert_annotations(incident) | ({"cause": cause} if cause else {}),
        "startsAt": incident.get("opened_at") or notification.at,
        "endsAt": (incident.get("resolved_at") or notification.at) if ended else notification.at + _lives(notification.repeat_interval_s),
        "generatorURL": notification.link(incident),
    }


def _lives(repeat_interval_s: int | None) -> timedelta:
    return timedelta(seconds=LIVES_FOR_REPEATS * (repeat_interval_s or ALERTMANAGER_REPEAT_S))


def order_event_body(event: OrderEvent, repeat_interval_s: int | None) -> str:
    """An alert that fires while the remedy or rollout is in progress, or until the next repetition of a condition.

    Its severity is fixed, because a new one would be another alert.
    """
    labels, annotations = alertmanager.order_labels(event), alertmanager.order_annotations(event)
    alert = {
        "labels": {**labels, "severity": "warning"},
        "annotations": annotations,
        "startsAt": event.began_at,
        "endsAt": event.at if event.over else event.at + (_lives(repeat_interval_s) if event.of_condition else ORDER_LIVES),
        "generatorURL": event.url,
    }
    return _dumps([alert])


def test_event_body(webhook_id: UUID, text: str, at: datetime, public_url: str | None) -> str:
    """A test alert that ends after five minutes."""
    alert = {
        "labels": {**alertmanager.TEST_LABELS, "webhook": str(webhook_id)},
        "annotations": {"summary": text},
        "startsAt": at,
        "endsAt": at + TEST_LIVES,
        "generatorURL": public_url or "",
    }
    return _dumps([alert])


def _dumps(alerts: list[dict[str, Any]]) -> str:
    # Alertmanager refuses an address that is not one; without a public address there is none.
    for alert in alerts:
        if not alert["generatorURL"]:
            del alert["generatorURL"]
    return orjson.dumps(alerts, option=orjson.OPT_UTC_Z).decode()
