"""Words and times in the lines that commands print."""

from collections.abc import Sequence
from datetime import datetime


def expiry(at: datetime | None) -> str:
    return f"until {at.isoformat(timespec='seconds')}" if at is not None else "no end"


def host_names(hosts: Sequence[str], total: int) -> str:
    """Return host names as text; of a long list only the first ones are known.

    >>> host_names(["host01", "host02"], 5)
    'host01, host02 and 3 more'
    """
    return ", ".join(hosts) + (f" and {total - len(hosts)} more" if total > len(hosts) else "")
