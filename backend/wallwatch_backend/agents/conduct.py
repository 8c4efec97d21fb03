"""What honest agents never do: audited, counted, and held to a pace, so that a liar fills neither the log nor the server."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from prometheus_client import Counter

from wallwatch_backend.audit import service as audit
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database

LIES = Counter(
    "wallwatch_agent_lies", "What agents said or did that no honest agent does; each is audited, repetitions ever more rarely", ["reason"]
)

_FIRST_WAIT, _LONGEST_WAIT = timedelta(minutes=1), timedelta(days=1)
_REPLACED, _WITHIN = 5, timedelta(minutes=10)
_PER_S, _BURST = 50, 300
_FLOOD = 1000


@dataclass
class Repetitions:
    """Says when to tell of something again: at once, then after a minute, two, four, and at last once a day.

    Examples
    --------
    >>> from datetime import UTC
    >>> at, told = datetime(2026, 1, 1, tzinfo=UTC), Repetitions()
    >>> [told.due("host01", at + timedelta(seconds=s)) for s in (0, 1, 30, 60, 61, 120, 180)]
    [0, None, None, 2, None, None, 2]
    """

    _known: dict[str, tuple[datetime, timedelta, int]] = field(default_factory=dict)

    def due(self, key: str, at: datetime) -> int | None:
        """How often it came since it was told last; None when it is not to be told now."""
        next_at, wait, left_out = self._known.get(key, (at, _FIRST_WAIT / 2, 0))
        if at < next_at:
            self._known[key] = (next_at, wait, left_out + 1)
            return None
        # Who has behaved for as long as the wait was is told of at once the next time, yet not as often as a newcomer.
        wait = min(2 * wait, _LONGEST_WAIT)
        self._known[key] = (at + wait, wait, 0)
        return left_out


class Conduct:
    """Audits what agents of all connections do wrong. One for a process, so that connecting again starts nothing anew."""

    def __init__(self, database: Database) -> None:
        self._database, self._told = database, Repetitions()
        self._replaced: dict[str, deque[datetime]] = {}

    async def note(self, host: str, reason: str, *, action: str = "agent.result", kind: str = "", **detail: str | None) -> None:
        """Audit one wrong, refused. `kind` tells two wrongs of one reason apart; it must come from a short list, never from the agent."""
        LIES.labels(reason).inc()
        left_out = self._told.due(f"{host}|{action}|{reason}|{kind}", clock.now())
        if left_out is None:
            return
        more = {name: value for name, value in detail.items() if value}
        if left_out:
            more["left_out"] = str(left_out)
        await audit.record_apart(self._database, f"agent:{host}", action, host, outcome="refused", reason=reason, **more)

    async def note_replaced(self, host: str, address: str | None) -> None:
        """Note that a connection took the place of one that lived. A network does that now and then, a copy of credentials always."""
        times = self._replaced.setdefault(host, deque(maxlen=_REPLACED))
        times.append(at := clock.now())
        if len(times) == _REPLACED and at - times[0] <= _WITHIN:
            await self.note(host, "two_connections", action="agent.connect", address=address)


class Pace:
    """Lets messages of one connection through at a pace; one that comes sooner waits, so that TCP slows its sender and nothing is lost.

    `seconds()` is how long the next has to wait.

    >>> now = [0.0]
    >>> pace = Pace(lambda: now[0])
    >>> [pace.seconds() for _ in range(302)][298:]
    [0.0, 0.0, 0.02, 0.04]
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._now, self._free_at, self._held = monotonic, monotonic() - _BURST / _PER_S, 0

    def seconds(self) -> float:
        now = self._now()
        self._free_at = max(self._free_at, now - _BURST / _PER_S) + 1 / _PER_S
        return round(max(0.0, self._free_at - now), 6)

    async def wait(self) -> bool:
        """Wait for the message's turn; True once in a flood. An agent that reconnects may have much to say, but not as much."""
        seconds = self.seconds()
        if not seconds:
            self._held = 0
            return False
        self._held += 1
        await asyncio.sleep(seconds)
        return self._held == _FLOOD
