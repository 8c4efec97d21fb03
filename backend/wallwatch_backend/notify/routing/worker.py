"""Decides for each event of an incident which webhooks get it, what and when, and writes the deliveries.

An event, the changes that it causes and its deliveries are one transaction, and timers are columns. So a process killed at any point
leaves nothing half done: the next one continues from the tables.
"""

import asyncio
from datetime import datetime

import structlog
from prometheus_client import Counter

from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.notify.routing import repository
from wallwatch_backend.notify.routing.service import IncidentStates, RoutingBatch
from wallwatch_backend.notify.webhooks import urls
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
EVENTS = Counter("wallwatch_webhook_events", "Events of incidents that were offered to webhooks")

_BATCH = 200
_LONGEST_SLEEP_S = 30.0
_PAUSE_S = 0.1
"""Between two rounds: the first event of a burst is routed at once, the others together. A round costs more than most events."""


class Router:
    """Runs on one replica at a time."""

    def __init__(self, database: Database, settings: Settings, incident_states: IncidentStates) -> None:
        self._database, self._incident_states = database, incident_states
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
        """Route one batch of events and send one batch of due groups; return how many of both."""
        return await self.route_events(at) + await self.send_due_groups(at)

    async def _batch(self, session: WriteSession) -> RoutingBatch:
        webhooks = await repository.enabled_webhooks(session)
        return RoutingBatch(session, self._public_url, webhooks, self._incident_states)

    async def route_events(self, at: datetime) -> int:
        """Offer one batch of events to every webhook; return how many events."""
        async with self._database.write() as session:
            events = await repository.lock_events(session, _BATCH)
            self._backlog = len(events) == _BATCH
            if not events:
                return 0
            batch = await self._batch(session)
            await batch.load(events)
            for event in events:
                batch.route(event, at)
            await batch.write()
            await repository.delete_events(session, [event.id for event in events])
            await changes.wake_deliveries(session)
        EVENTS.inc(len(events))
        return len(events)

    async def send_due_groups(self, at: datetime) -> int:
        """Add the notifications of groups that are due; return how many groups."""
        async with self._database.write() as session:
            groups = await repository.due_groups(session, at, _BATCH)
            if not groups:
                return 0
            batch = await self._batch(session)
            for group in groups:
                await batch.send_due(group, at)
            await batch.write()
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
