"""An e-mail: subject, text, and the thread to which mail programs add it. `deliveries/mailer.py` makes the message of it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson

from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.formats.alarm import shortened
from wallwatch_backend.notify.formats.notification import Notification, headline, place_of, title_of, values_of

MAX_INCIDENTS = 50
_MAX_SUBJECT = 200
_MAX_TEXT = 4000


def notification_body(notification: Notification) -> str:
    included = notification.incidents[:MAX_INCIDENTS]
    more = len(notification.incidents) - len(included)
    word, about, link = headline(notification)
    blocks = [_incident(notification, incident) for incident in included]
    if more:
        blocks.append(f"and {more} more" + (f": {link}" if link else ""))
    first = notification.incidents[0]
    subject = f"{word}: {title_of(first)} on {place_of(first)}" if len(notification.incidents) == 1 else f"{word}: {about}"
    return _body(subject, "\n\n".join(blocks), notification.group_key)


def order_event_body(event: OrderEvent) -> str:
    word = str(event.event).replace(".", " ").replace("_", " ").capitalize()
    return _body(f"{word}: {event.about}", "\n\n".join(part for part in (event.text, event.url) if part), event.subject)


def test_event_body(webhook_id: UUID, text: str) -> str:
    return _body("Test of Wallwatch", text, f"test={webhook_id}")


def _incident(notification: Notification, incident: Mapping[str, Any]) -> str:
    values = [f"{name}: {value}" for name, value in values_of(incident).items()]
    text = str(incident.get("explanation") or incident.get("summary") or "")
    lines = [title_of(incident) or place_of(incident), *values, *(["", shortened(text, _MAX_TEXT)] if text else [])]
    link = notification.link(incident)
    return "\n".join([*lines, *(["", link] if link else [])])


def _body(subject: str, text: str, thread: str) -> str:
    # A subject is one line: what comes from hosts must not become another header.
    one_line = " ".join(subject.split())
    return orjson.dumps({"subject": shortened(one_line, _MAX_SUBJECT), "text": text, "thread": thread}).decode()
