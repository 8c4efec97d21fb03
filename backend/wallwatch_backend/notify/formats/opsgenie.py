"""Opsgenie's Alert API, which Jira Service Management takes too. The key is not part of the body: it is a header of the request.

Opsgenie has an address for each action, below the one of its alerts. So the body here names the action and the alias of the alert;
`deliveries/requests.py` makes the request of it.

https://docs.opsgenie.com/docs/alert-api
"""

from typing import Any

import orjson

from wallwatch_backend.notify.formats.alarm import Alarm, shortened

SOURCE = "Wallwatch"
_MAX_MESSAGE, _MAX_DESCRIPTION, _MAX_ENTITY, _MAX_TAG, _MAX_DETAILS = 130, 15_000, 512, 50, 8000
_MAX_DETAIL = _MAX_DETAILS // 20
"""The details of an alert may have 8,000 characters together; there are fewer than twenty."""
_ACTIONS = {"open": "create", "acknowledge": "acknowledge", "close": "close"}
_PRIORITIES = {"critical": "P1", "warning": "P3", "info": "P5"}


def body(alarm: Alarm) -> str:
    fields = _alert(alarm) if alarm.action == "open" else _note(alarm)
    return orjson.dumps({"action": _ACTIONS[alarm.action], "alias": alarm.key, "fields": fields}).decode()


def _note(alarm: Alarm) -> dict[str, str]:
    by = alarm.acknowledged_by if alarm.action == "acknowledge" else None
    return {"source": SOURCE, "note": f"acknowledged by {by}" if by else alarm.summary}


def _alert(alarm: Alarm) -> dict[str, Any]:
    description = "\n\n".join(part for part in (alarm.summary, alarm.text, alarm.link) if part)
    details = {name: shortened(value, _MAX_DETAIL) for name, value in alarm.details.items()}
    return {
        "message": shortened(alarm.summary, _MAX_MESSAGE),
        "alias": alarm.key,
        "description": shortened(description, _MAX_DESCRIPTION),
        "entity": shortened(alarm.place, _MAX_ENTITY),
        "source": SOURCE,
        "priority": _PRIORITIES[alarm.severity],
        "tags": [shortened(tag, _MAX_TAG) for tag in ("wallwatch", alarm.kind) if tag],
        "details": {**details, **({"link": alarm.link} if alarm.link else {})},
    }
