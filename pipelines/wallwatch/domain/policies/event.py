"""Messages of the topic `wallwatch.event` as events of policies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wallwatch.domain.policies.watch import Event


def event_of(message: Mapping[str, Any]) -> Event | None:
    """The event of a decoded message of docs/contracts.md; None when it is not one.

    >>> event_of({"name": "event", "timestamp": 1500, "tags": {"host": "h", "kind": "cni_del"}, "fields": {"device": "0000:17:00.2"}}).at_us
    1
    """
    tags, fields, at_ns = message.get("tags"), message.get("fields"), message.get("timestamp")
    if message.get("name") != "event" or not isinstance(tags, Mapping) or not isinstance(fields, Mapping) or not isinstance(at_ns, int):
        return None
    if not tags.get("host") or not tags.get("kind"):
        return None
    return Event(str(tags["kind"]), at_ns // 1000, str(tags["host"]), str(tags.get("pci", "")), fields)
