"""Alertmanager's webhook body, version 4, so that what receives Alertmanager's notifications receives ours.

https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from wallwatch_backend.kit.matchers import labels_of
from wallwatch_backend.webhooks.formats.happening import Happening
from wallwatch_backend.webhooks.formats.notification import Notification, is_resolved, place_of

NO_END = "0001-01-01T00:00:00Z"
"""Go's zero time, which Alertmanager sends as `endsAt` of an alert that still fires."""


def alert_name(symptom: str) -> str:
    """Name of the alert that a symptom becomes.

    >>> alert_name("S1"), alert_name("silent")
    ('WallwatchS1', 'WallwatchSilent')
    """
    return f"Wallwatch{symptom[:1].upper()}{symptom[1:]}"


def _labels(incident: Mapping[str, Any]) -> dict[str, str]:
    return {
        "alertname": alert_name(str(incident.get("symptom") or "incident")),
        "incident": str(incident["id"]),
        **{name: values[0] for name, values in labels_of(incident).items()},
    }


def _annotations(incident: Mapping[str, Any]) -> dict[str, str]:
    found = {
        "title": incident.get("title"),
        "summary": incident.get("summary"),
        "description": incident.get("explanation"),
        "upgrade": (incident.get("upgrade") or {}).get("text"),
        "place": place_of(incident),
        "hosts": ", ".join(labels_of(incident).get("host", ())),
        "state": incident.get("state"),
        "assignee": incident.get("assignee"),
    }
    return {name: str(value) for name, value in found.items() if value}


def _alert(notification: Notification, incident: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "status": "resolved" if is_resolved(incident) else "firing",
        "labels": _labels(incident),
        "annotations": _annotations(incident),
        "startsAt": incident.get("opened_at") or NO_END,
        "endsAt": (incident.get("resolved_at") if is_resolved(incident) else None) or NO_END,
        "generatorURL": notification.link(incident),
        # Of the incident, not of its labels: severity and cause may change while it stays the same alert.
        "fingerprint": hashlib.sha256(str(incident["id"]).encode()).hexdigest()[:16],
    }


def _common(maps: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """What all maps say alike.

    >>> _common([{"a": "1", "b": "2"}, {"a": "1", "b": "3"}])
    {'a': '1'}
    """
    first, *others = [dict(one) for one in maps]
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def body(notification: Notification) -> str:
    alerts = [_alert(notification, incident) for incident in notification.shown]
    document = {
        "version": "4",
        "groupKey": notification.group_key,
        "truncatedAlerts": notification.left_out,
        "status": notification.status,
        "receiver": notification.receiver,
        "groupLabels": dict(notification.group_labels),
        "commonLabels": _common(alert["labels"] for alert in alerts),
        "commonAnnotations": _common(alert["annotations"] for alert in alerts),
        "externalURL": notification.public_url or "",
        "alerts": alerts,
    }
    return orjson.dumps(document, option=orjson.OPT_UTC_Z).decode()


def happening_body(happening: Happening, receiver: str, webhook_id: UUID) -> str:
    """An alert that fires while the remedy or rollout is under way, and is resolved when it is over, however it ended."""
    name = f"Wallwatch{happening.kind.capitalize()}"
    labels = {"alertname": name, happening.kind: str(happening.id), "action": happening.action, **happening.labels}
    labels |= {"severity": "warning" if happening.level == "bad" else "info"}
    annotations = {"summary": happening.text, "place": happening.place, "event": str(happening.event)}
    status = "resolved" if happening.over else "firing"
    document = {
        "version": "4",
        "groupKey": f'wallwatch/{webhook_id}:{{{happening.kind}="{happening.id}"}}',
        "truncatedAlerts": 0,
        "status": status,
        "receiver": receiver,
        "groupLabels": {happening.kind: str(happening.id)},
        "commonLabels": labels,
        "commonAnnotations": annotations,
        "externalURL": happening.url,
        "alerts": [
            {
                "status": status,
                "labels": labels,
                "annotations": annotations,
                "startsAt": happening.began_at,
                "endsAt": happening.at if happening.over else NO_END,
                "generatorURL": happening.url,
                "fingerprint": hashlib.sha256(str(happening.id).encode()).hexdigest()[:16],
            }
        ],
    }
    return orjson.dumps(document, option=orjson.OPT_UTC_Z).decode()


def test_body(webhook_id: UUID, receiver: str, text: str, at: datetime, public_url: str | None) -> str:
    """An alert that says that it is a test. It fires, as receivers may show nothing of a resolved one, and it is never resolved."""
    labels = {"alertname": "WallwatchTest", "severity": "info"}
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
