"""Times as whole milliseconds since 1970, and as RFC 3339 text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_FRACTION = re.compile(r"\.(\d+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def ms_of(text: str) -> int:
    """RFC 3339 to ms; more digits than microseconds are cut off.

    >>> ms_of("2026-09-21T14:13:20.123456789Z")
    1790000000123
    """
    at = datetime.fromisoformat(_FRACTION.sub(lambda found: "." + found[1][:6].ljust(6, "0"), text.replace("Z", "+00:00")))
    if at.tzinfo is None:
        raise ValueError(f"the time {text[:40]!r} has no time zone")
    return (at - _EPOCH) // timedelta(milliseconds=1)


def rfc3339(at_ms: int) -> str:
    """Milliseconds since 1970 as RFC 3339 UTC.

    >>> rfc3339(1_790_000_000_123)
    '2026-09-21T14:13:20.123Z'
    """
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
