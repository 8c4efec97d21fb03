"""PagerDuty's Events API, version 2. The routing key is not part of the body: it is added when the body is sent, so the log never shows it.

https://developer.pagerduty.com/docs/send-alert-event
"""

from typing import Any

import orjson

from wallwatch_backend.notify.formats.alarm import Alarm, shortened

CLIENT = "Wallwatch"
_MAX_SUMMARY = 1024
_MAX_TEXT = 10_000
"""An event may have 512 kB; nobody reads more than this on a phone."""
_ACTIONS = {"open": "trigger", "acknowledge": "acknowledge", "close": "resolve"}


def body(alarm: Alarm) -> str:
    document: dict[str, Any] = {"event_action": _ACTIONS[alarm.action], "dedup_key": alarm.key}
    if alarm.action == "open":
        document["payload"] = _payload(alarm)
        document["client"] = CLIENT
        if alarm.link:
            document["client_url"] = alarm.link
            document["links"] = [{"href": alarm.link, "text": "Open in Wallwatch"}]
    return orjson.dumps(document, option=orjson.OPT_UTC_Z).decode()


def _payload(alarm: Alarm) -> dict[str, Any]:
    details = {**alarm.details, **({"Explanation": shortened(alarm.text, _MAX_TEXT)} if alarm.text else {})}
    payload = {
        "summary": shortened(alarm.summary, _MAX_SUMMARY),
        "source": alarm.place,
        "severity": alarm.severity,
        "timestamp": alarm.since,
        "component": "RNIC",
        "class": alarm.kind,
        "custom_details": details,
    }
    return {name: value for name, value in payload.items() if value}
