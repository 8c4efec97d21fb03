"""Slack's incoming-webhook body: a text and attachments, the part that Mattermost and Rocket.Chat understand too.

https://api.slack.com/reference/messaging/attachments
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from wallwatch_backend.webhooks.formats.happening import Happening
from wallwatch_backend.webhooks.formats.notification import Notification, about, is_resolved, place_of

MOST_ATTACHMENTS = 20
"""A message beyond that is not read, and Slack refuses more than 100."""
_COLORS = {"critical": "#c3222f", "warning": "#e6a100", "resolved": "#176a43"}
_OTHER = "#4f5f6e"
_LONGEST = 2500  # of a text; Slack cuts off after 3,000 characters


def escape(text: object) -> str:
    """Escape what Slack takes for its own markup.

    >>> escape("a < b & c")
    'a &lt; b &amp; c'
    """
    return str(text)[:_LONGEST].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _state(incident: Mapping[str, Any]) -> str:
    who = f" by {incident['acknowledged_by']}" if incident.get("state") == "acknowledged" and incident.get("acknowledged_by") else ""
    over = ", the symptom is over" if incident.get("active") is False and not is_resolved(incident) else ""
    return f"{incident.get('state', 'open')}{who}{over}"


def _fields(incident: Mapping[str, Any]) -> list[dict[str, Any]]:
    values = {
        "Severity": incident.get("severity"),
        "State": _state(incident),
        "Where": place_of(incident),
        "Rack": incident.get("rack"),
        "Likely cause": incident.get("cause") or incident.get("top_cause"),
        "Recommended": (incident.get("upgrade") or {}).get("title"),
        "Assignee": incident.get("assignee"),
    }
    return [{"title": title, "value": escape(value), "short": True} for title, value in values.items() if value]


def _seconds(time: object) -> int | None:
    return int(datetime.fromisoformat(time).timestamp()) if isinstance(time, str) else None


def _attachment(notification: Notification, incident: Mapping[str, Any]) -> dict[str, Any]:
    title = f"{incident.get('symptom', '')} {incident.get('title', '')}".strip()
    color = _COLORS["resolved"] if is_resolved(incident) else _COLORS.get(str(incident.get("severity")), _OTHER)
    attachment = {
        "fallback": f"{title} on {place_of(incident)}: {_state(incident)}",
        "color": color,
        "title": escape(title),
        "title_link": notification.link(incident) or None,
        "text": escape(incident.get("explanation") or incident.get("summary") or ""),
        "fields": _fields(incident),
        "footer": "Wallwatch",
        "ts": _seconds(incident.get("resolved_at") if is_resolved(incident) else incident.get("opened_at")),
    }
    return {name: value for name, value in attachment.items() if value not in (None, "")}


_HEADLINES = {"incident.opened": "Opened", "incident.updated": "Changed", "incident.resolved": "Resolved"}


def _headline(notification: Notification) -> str:
    if notification.repeated:
        word = "Still unresolved"
    elif notification.grouped:
        word = "Resolved" if notification.status == "resolved" else "Incidents"
    else:
        word = _HEADLINES.get(notification.event, "Incident")
    first = notification.incidents[0]
    text = escape(about(notification))
    link = notification.link(first)
    if len(notification.incidents) > 1:
        link = f"{notification.public_url}/incidents" if notification.public_url else ""
    return f"*{word}*: {f'<{link}|{text}>' if link else text}"


def body(notification: Notification) -> str:
    shown = notification.incidents[:MOST_ATTACHMENTS]
    more = len(notification.incidents) - len(shown)
    text = _headline(notification) + (f" (and {more} more)" if more else "")
    return orjson.dumps({"text": text, "attachments": [_attachment(notification, incident) for incident in shown]}).decode()


def happening_body(happening: Happening) -> str:
    color = {"good": _COLORS["resolved"], "bad": _COLORS["critical"], "info": _OTHER}[happening.level]
    about = escape(happening.about)
    attachment = {
        "fallback": happening.text,
        "color": color,
        "text": escape(happening.text),
        "footer": "Wallwatch",
        "ts": int(happening.at.timestamp()),
    }
    word = str(happening.event).replace(".", " ").replace("_", " ").capitalize()
    headline = f"*{word}*: {f'<{happening.url}|{about}>' if happening.url else about}"
    return orjson.dumps({"text": headline, "attachments": [attachment]}).decode()


def test_body(text: str) -> str:
    return orjson.dumps({"text": escape(text), "attachments": []}).decode()
