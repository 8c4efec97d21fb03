"""Which containers held a function, from the events of the CNI chain. Pure."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from wallwatch_backend.isolation.vfs.schemas import Holder


def holders(events: Iterable[tuple[datetime, str, dict[str, Any]]], since: datetime) -> list[Holder]:
    """The holders in an interval that begins at `since`, newest first.

    Parameters
    ----------
    events : iterable of (datetime, str, dict)
        Time, kind and fields of the events of one function, oldest first; those without a device may concern another one.
    """
    found: list[Holder] = []
    interface: str | None = None
    for at, kind, fields in events:
        current = found[-1] if found and found[-1].until is None else None
        if kind == "cni_add":
            if "device" not in fields:
                continue
            if current is not None:
                current.until = at
            pod = fields.get("pod") or None
            namespace, slash, _ = (pod or "").partition("/")
            tenant = namespace if slash else None
            found.append(Holder(pod=pod, owner=None, labels={}, tenant=tenant, container=fields.get("container"), since=at, until=None))
            interface = fields.get("interface")
        elif current is not None:
            same = (fields.get("container"), fields.get("interface")) == (current.container, interface)
            if kind == "host_booted" or "device" in fields or same:
                current.until = at
    return [one for one in reversed(found) if one.until is None or one.until >= since]
