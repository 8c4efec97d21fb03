"""Alertmanager's webhook body, version 4, so that receivers of Alertmanager work unchanged.

https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from wallwatch_backend.kit.matchers import labels_of
from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats.notification import Notification, is_resolved, place_of

NO_END = "0001-01-01T00:00:00Z"
"""Go's zero time, which Alertmanager sends as `endsAt` of an alert that still fires."""


def alert_name(symptom: str) -> str:
    """Name of the alert of a symptom.

    >>> alert_name("S1"), alert_name("silent")
    ('WallwatchS1', 'WallwatchSilent')
    """
    return f"Wallwatch{symptom[:1].upper()}{symptom[1:]}"


def alert_labels(incident: Mapping[str, Any]) -> dict[str, str]:
    """Labels of the alert of an incident. `instance` is what receivers tell resources apart by: without it, Alerta merges all hosts."""
    own = {name: values[0] for name, values in labels_of(incident).items()}
    instance = own.get("host") if own.get("scope") in (None, "rnic", "host") else incident.get("subject") or own.get("host")
    return {
        "alertname": alert_name(str(incident.get("symptom") or "incident")),
        "incident": str(incident["id"]),
        **({"instance": str(instance)} if instance else {}),
        **own,
    }


def alert_annotations(incident: Mapping[str, Any]) -> dict[str, str]:
    values = {
        "title": incident.get("title"),
        "summary": incident.get("summary"),
        "description": incident.get("explanation"),
        "upgrade": (incident.get("upgrade") or {}).get("text"),
        "place": place_of(incident),
        "hosts": ", ".join(labels_of(incident).get("host", ())),
        "state": incident.get("state"),
        "assignee": incident.get("assignee"),
    }
    return {name: str(value) for name, value in values.items() if value}


def _alert(notification: Notification, incident: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "status": "resolved" if is_resolved(incident) else "firing",
        "labels": alert_labels(incident),
        "annotations": alert_annotations(incident),
        "startsAt": incident.get("opened_at") or NO_END,
        "endsAt": (incident.get("resolved_at") if is_resolved(incident) else None) or NO_END,
        "generatorURL": notification.link(incident),
        # From the incident, not from its labels: severity and cause may change while the alert stays the same.
        "fingerprint": hashlib.sha256(str(incident["id"]).encode()).hexdigest()[:16],
    }


def _common(maps: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The entries that all maps share.

    >>> _common([{"a": "1", "b": "2"}, {"a": "1", "b": "3"}])
    {'a': '1'}
    """
    first, *others = [dict(labels) for labels in maps]
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def notification_body(notification: Notification) -> str:
    alerts = [_alert(notification, incident) for incident in notification.included]
    document = {
        "version": "4",
        "groupKey": notification.group_key,
        "truncatedAlerts": notification.truncated,
        "status": notification.status,
        "receiver": notification.receiver,
        # What a ticket connector takes for the identity of the ticket.
        "groupLabels": dict(notification.group_labels) if notification.grouped else {"incident": str(notification.incidents[0]["id"])},
        "commonLabels": _common(alert["labels"] for alert in alerts),
        "commonAnnotations": _common(alert["annotations"] for alert in alerts),
        "externalURL": notification.public_url or "",
        "alerts": alerts,
    }
    return orjson.dumps(document, option=orjson.OPT_UTC_Z).decode()


def order_labels(event: OrderEvent) -> dict[str, str]:
    name = f"Wallwatch{event.kind.capitalize()}"
    host = event.labels.get("host")
    return {
        "alertname": name,
        event.kind: str(event.id),
        "action": event.action,
        **({"instance": host} if host else {}),
        **event.labels,
        # A condition ends under the labels of its beginning, which is always bad.
        # "info" is no severity of Alerta; "informational" is one of all receivers that were tried.
        "severity": "warning" if event.level == "bad" or event.of_condition else "informational",
    }


def order_annotations(event: OrderEvent) -> dict[str, str]:
    return {**event.facts, "summary": event.text, "place": event.place, "event": str(event.event)}


def order_event_body(event: OrderEvent, receiver: str, webhook_id: UUID) -> str:
    """An alert that fires while the remedy or rollout is in progress, and is resolved when it ends, whatever its outcome."""
    labels, annotations = order_labels(event), order_annotations(event)
    status = "resolved" if event.over else "firing"
    document = {
        "version": "4",
        "groupKey": f'wallwatch/{webhook_id}:{{{event.kind}="{event.id}"}}',
        "truncatedAlerts": 0,
        "status": status,
        "receiver": receiver,
        "groupLabels": {event.kind: str(event.id)},
        "commonLabels": labels,
        "commonAnnotations": annotations,
        "externalURL": event.url,
        "alerts": [
            {
                "status": status,
                "labels": labels,
                "annotations": annotations,
                "startsAt": event.began_at,
                "endsAt": event.at if event.over else NO_END,
                "generatorURL": event.url,
                "fingerprint": hashlib.sha256(event.subject.encode()).hexdigest()[:16],
            }
        ],
    }
    return orjson.dumps(document, option=orjson.OPT_UTC_Z).decode()


TEST_LABELS = {"alertname": "WallwatchTest", "severity": "warning"}


def test_event_body(webhook_id: UUID, receiver: str, text: str, at: datetime, public_url: str | None) -> str:
    """A test alert. It fires, as receivers may not show resolved ones, and it is never resolved."""
    labels = TEST_LABELS
    annotations = {"summary": text}
    document = {
        "version": "4",
        "groupKey": f"wallwatch/{webhook_id}:{{}}",
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": receiver,
        "groupLabels": {},
        "commonLabels": labels,
        "commonAnnotations": annotations,
        "externalURL": public_url or "",
        "alerts": [
            {
                "status": "firing",
                "labels": labels,
                "annotations": annotations,
                "startsAt": at,
                "endsAt": NO_END,
                "generatorURL": public_url or "",
                "fingerprint": hashlib.sha256(str(webhook_id).encode()).hexdigest()[:16],
            }
        ],
    }
    return orjson.dumps(document, option=orjson.OPT_UTC_Z).decode()
