"""Slack's incoming-webhook body: a text and attachments, the subset that Mattermost and Rocket.Chat support too.

https://api.slack.com/reference/messaging/attachments
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats.notification import Notification, headline, is_resolved, place_of, state_of, title_of, values_of

MAX_ATTACHMENTS = 20
"""Nobody reads a longer message, and Slack rejects more than 100."""
_COLORS = {"critical": "#c3222f", "warning": "#e6a100", "resolved": "#176a43"}
_OTHER = "#4f5f6e"
_MAX_TEXT = 2500  # Slack truncates after 3,000 characters


def escape(text: object) -> str:
    """Escape Slack's markup.

    >>> escape("a < b & c")
    'a &lt; b &amp; c'
    """
    return str(text)[:_MAX_TEXT].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _fields(incident: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"title": title, "value": escape(value), "short": True} for title, value in values_of(incident).items()]


def _seconds(time: object) -> int | None:
    return int(datetime.fromisoformat(time).timestamp()) if isinstance(time, str) else None


def _attachment(notification: Notification, incident: Mapping[str, Any]) -> dict[str, Any]:
    title = title_of(incident)
    color = _COLORS["resolved"] if is_resolved(incident) else _COLORS.get(str(incident.get("severity")), _OTHER)
    attachment = {
        "fallback": f"{title} on {place_of(incident)}: {state_of(incident)}",
        "color": color,
        "title": escape(title),
        "title_link": notification.link(incident) or None,
        "text": escape(incident.get("explanation") or incident.get("summary") or ""),
        "fields": _fields(incident),
        "footer": "Wallwatch",
        "ts": _seconds(incident.get("resolved_at") if is_resolved(incident) else incident.get("opened_at")),
    }
    return {name: value for name, value in attachment.items() if value not in (None, "")}


def _headline(notification: Notification) -> str:
    word, text, link = headline(notification)
    text = escape(text)
    return f"*{word}*: {f'<{link}|{text}>' if link else text}"


def notification_body(notification: Notification) -> str:
    included = notification.incidents[:MAX_ATTACHMENTS]
    more = len(notification.incidents) - len(included)
    text = _headline(notification) + (f" (and {more} more)" if more else "")
    return orjson.dumps({"text": text, "attachments": [_attachment(notification, incident) for incident in included]}).decode()


def order_event_body(event: OrderEvent) -> str:
    color = {"good": _COLORS["resolved"], "bad": _COLORS["critical"], "info": _OTHER}[event.level]
    about = escape(event.about)
    attachment = {
        "fallback": event.text,
        "color": color,
        "text": escape(event.text),
        "footer": "Wallwatch",
        "ts": int(event.at.timestamp()),
    }
    word = str(event.event).replace(".", " ").replace("_", " ").capitalize()
    headline = f"*{word}*: {f'<{event.url}|{about}>' if event.url else about}"
    return orjson.dumps({"text": headline, "attachments": [attachment]}).decode()


def test_event_body(text: str) -> str:
    return orjson.dumps({"text": escape(text), "attachments": []}).decode()
