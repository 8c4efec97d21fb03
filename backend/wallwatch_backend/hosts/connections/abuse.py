"""What no honest agent does is audited, counted and slowed down, so that it fills neither the audit log nor the server."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from prometheus_client import Counter

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database

ABUSE = Counter(
    "wallwatch_agent_abuse",
    "Messages and connections that no honest agent causes; audited, repeats less often",
    ["reason"],
)

_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=1), timedelta(days=1)
_REPLACEMENTS, _WITHIN = 5, timedelta(minutes=10)
_PER_S, _BURST = 50, 300
_FLOOD = 1000


@dataclass
class RepeatLimiter:
    """Says when to report a repeated event: immediately, then after one minute, two, four, and in the end once a day.

    Examples
    --------
    >>> from datetime import UTC
    >>> start, limiter = datetime(2026, 1, 1, tzinfo=UTC), RepeatLimiter()
    >>> [limiter.suppressed_since("host01", start + timedelta(seconds=s)) for s in (0, 1, 30, 60, 61, 120, 180)]
    [0, None, None, 2, None, None, 2]
    """

    _by_key: dict[str, tuple[datetime, timedelta, int]] = field(default_factory=dict)

    def suppressed_since(self, key: str, at: datetime) -> int | None:
        """Return how many events were suppressed since the last report; None if this one must be suppressed too."""
        report_at, pause, suppressed = self._by_key.get(key, (at, _FIRST_PAUSE / 2, 0))
        if at < report_at:
            self._by_key[key] = (report_at, pause, suppressed + 1)
            return None
        # The pause never shrinks: an event after a long quiet time is reported immediately, but its repeats stay rare.
        pause = min(2 * pause, _LONGEST_PAUSE)
        self._by_key[key] = (at + pause, pause, 0)
        return suppressed


class AbuseGuard:
    """Audits the abuses of all connections.

    There is one per process, so that a new connection does not reset the pauses.
    """

    def __init__(self, database: Database) -> None:
        self._database, self._limiter = database, RepeatLimiter()
        self._replaced: dict[str, deque[datetime]] = {}

    async def report(self, host: str, reason: str, *, action: str, kind: str = "", **detail: str | None) -> None:
        """Audit an abuse.

        `kind` separates two abuses with the same reason; it must come from a short list, never from the agent.
        """
        ABUSE.labels(reason).inc()
        suppressed = self._limiter.suppressed_since(f"{host}|{action}|{reason}|{kind}", clock.now())
        if suppressed is None:
            return
        details = {name: value for name, value in detail.items() if value}
        if suppressed:
            details["suppressed"] = str(suppressed)
        await audit.record_apart(self._database, f"agent:{host}", action, host, outcome="refused", reason=reason, **details)

    async def report_replaced(self, host: str, address: str | None) -> None:
        """Count a connection that replaced a live one.

        A bad network does that now and then; copied credentials do it all the time.
        """
        times = self._replaced.setdefault(host, deque(maxlen=_REPLACEMENTS))
        times.append(at := clock.now())
        if len(times) == _REPLACEMENTS and at - times[0] <= _WITHIN:
            await self.report(host, "two_connections", action="agent.connect", address=address)


class MessagePace:
    """Limits the messages of one connection to a rate.

    One that comes too soon waits, so that TCP slows its sender and nothing is lost.

    >>> now = [0.0]
    >>> pace = MessagePace(lambda: now[0])
    >>> [pace.delay_s() for _ in range(302)][298:]
    [0.0, 0.0, 0.02, 0.04]
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._now, self._free_at, self._delayed = monotonic, monotonic() - _BURST / _PER_S, 0

    def delay_s(self) -> float:
        """Take the next message's slot and return how long the message must wait for it."""
        now = self._now()
        self._free_at = max(self._free_at, now - _BURST / _PER_S) + 1 / _PER_S
        return round(max(0.0, self._free_at - now), 6)

    async def wait(self) -> bool:
        """Wait for the message's slot; return True once per flood.

        An agent that reconnects may send many messages, but not this many.
        """
        delay_s = self.delay_s()
        if not delay_s:
            self._delayed = 0
            return False
        self._delayed += 1
        await asyncio.sleep(delay_s)
        return self._delayed == _FLOOD
