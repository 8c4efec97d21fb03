"""Decides for each event of an incident which webhook hears of it, with what and when, and writes the deliveries.

An event, what it changes and the deliveries that follow are one transaction; timers are columns. So a process that is killed at
any point leaves nothing half told: the next one goes on from the tables.
"""

import asyncio
from datetime import datetime

import structlog
from prometheus_client import Counter

from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings
from wallwatch_backend.webhooks import routing_repository as repository
from wallwatch_backend.webhooks import urls
from wallwatch_backend.webhooks.telling import Telling

log = structlog.get_logger(__name__)
EVENTS = Counter("wallwatch_webhook_events", "Events of incidents that were offered to webhooks")

_BATCH = 200
_LONGEST_SLEEP_S = 30.0
_PAUSE_S = 0.1
"""From one look to the next: the first event of a burst is told at once, the others together. To look costs more than most events."""


class Router:
    """Runs on one replica at a time."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._public_url = urls.public_address(settings)
        self._backlog = False
        self.woken = asyncio.Event()

    async def run(self) -> None:
        """Route until cancelled."""
        while True:
            self.woken.clear()
            if not await self.step(clock.now()):
                await self._sleep()
            elif not self._backlog:
                await asyncio.sleep(_PAUSE_S)

    async def step(self, at: datetime) -> int:
        """Do what there is to do at a time, up to a batch of each kind; return how much that was."""
        return await self.route_events(at) + await self.tell_due_groups(at)

    async def route_events(self, at: datetime) -> int:
        """Offer one batch of events to every webhook."""
        async with self._database.write() as session:
            events = await repository.take_events(session, _BATCH)
            self._backlog = len(events) == _BATCH
            if not events:
                return 0
            telling = Telling(session, self._public_url, await repository.enabled_webhooks(session))
            await telling.load(events)
            for event in events:
                telling.hear(event, at)
            await telling.finish()
            await repository.delete_events(session, [event.id for event in events])
            await changes.wake_deliveries(session)
        EVENTS.inc(len(events))
        return len(events)

    async def tell_due_groups(self, at: datetime) -> int:
        """Tell the groups whose time has come."""
        async with self._database.write() as session:
            groups = await repository.due_groups(session, at, _BATCH)
            if not groups:
                return 0
            telling = Telling(session, self._public_url, await repository.enabled_webhooks(session))
            for group in groups:
                await telling.tell(group, at)
            await telling.finish()
            await changes.wake_deliveries(session)
        return len(groups)

    async def _sleep(self) -> None:
        async with self._database.read() as session:
            timer = await repository.next_timer(session)
        wait_s = _LONGEST_SLEEP_S if timer is None else min(max((timer - clock.now()).total_seconds(), 0.05), _LONGEST_SLEEP_S)
        try:
            await asyncio.wait_for(self.woken.wait(), wait_s)
        except TimeoutError:
            return
