"""A message for Microsoft Teams: an Adaptive Card, as the trigger "When a Teams webhook request is received" of Workflows takes it.

https://learn.microsoft.com/en-us/adaptive-cards/authoring-cards/card-schema
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats.notification import Notification, headline, is_resolved, place_of, title_of, values_of

MAX_INCIDENTS = 10
MAX_BYTES = 28_000
"""Teams refuses a larger card."""
_MAX_TEXT = 1000
_COLORS = {"critical": "Attention", "warning": "Warning", "resolved": "Good"}


def escape(text: object) -> str:
    r"""Escape the Markdown that a text block of a card understands.

    >>> escape("[a](http://evil.example) *b*")
    '\\[a\\](http://evil.example) \\*b\\*'
    """
    return "".join(f"\\{letter}" if letter in "\\*_[]`#" else letter for letter in str(text)[:_MAX_TEXT])


def _text(text: object, **style: Any) -> dict[str, Any]:
    return {"type": "TextBlock", "text": escape(text), "wrap": True, **style}


def _incident(incident: Mapping[str, Any]) -> list[dict[str, Any]]:
    color = _COLORS["resolved"] if is_resolved(incident) else _COLORS.get(str(incident.get("severity")), "Default")
    facts = [{"title": name, "value": escape(value)} for name, value in values_of(incident).items()]
    text = incident.get("explanation") or incident.get("summary")
    title = _text(title_of(incident) or place_of(incident), weight="Bolder", color=color, separator=True)
    return [title, *([_text(text)] if text else []), {"type": "FactSet", "facts": facts}]


def _card(body: Sequence[Mapping[str, Any]], link: str) -> str:
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "msteams": {"width": "Full"},
        "body": list(body),
    }
    if link:
        card["actions"] = [{"type": "Action.OpenUrl", "title": "Open in Wallwatch", "url": link}]
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return orjson.dumps({"type": "message", "attachments": [attachment]}).decode()


def _of_first(notification: Notification, count: int) -> str:
    """The card with so many of the incidents."""
    more = len(notification.incidents) - count
    word, text, link = headline(notification)
    blocks = [_text(f"{word}: {text}" + (f" (and {more} more)" if more else ""), size="Medium", weight="Bolder")]
    for incident in notification.incidents[:count]:
        blocks += _incident(incident)
    return _card(blocks, link)


def notification_body(notification: Notification) -> str:
    """The card with as many incidents as Teams takes; each letter may have several bytes."""
    count = min(len(notification.incidents), MAX_INCIDENTS)
    body = _of_first(notification, count)
    while count > 1 and len(body.encode()) > MAX_BYTES:
        count -= 1
        body = _of_first(notification, count)
    return body


def order_event_body(event: OrderEvent) -> str:
    color = {"good": "Good", "bad": "Attention", "info": "Default"}[event.level]
    word = str(event.event).replace(".", " ").replace("_", " ").capitalize()
    return _card([_text(f"{word}: {event.about}", size="Medium", weight="Bolder", color=color), _text(event.text)], event.url)


def test_event_body(text: str) -> str:
    return _card([_text(text)], "")
