"""Takes events of incidents in the transaction of the change, so that neither exists without the other.

They are queued in `webhook_event`; the router decides afterwards from the database which webhook gets an event, when and in which format.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.kit import changes
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.notify.routing import repository
from wallwatch_backend.notify.schemas import EventType
from wallwatch_backend.notify.webhooks import repository as webhooks

_ANY_WEBHOOK = "webhooks.any_enabled"


async def any_webhook(session: WriteSession) -> bool:
    """Whether any webhook is enabled; one query per transaction."""
    if _ANY_WEBHOOK not in session.info:
        session.info[_ANY_WEBHOOK] = await webhooks.any_enabled(session)
    return bool(session.info[_ANY_WEBHOOK])


async def add(session: WriteSession, event: EventType, data: Mapping[str, Any], at: datetime) -> None:
    """Queue one event; `data` is the incident as the API shows it (JSON, with its `id`)."""
    await add_many(session, event, [data], at)


async def add_many(session: WriteSession, event: EventType, incidents: Sequence[Mapping[str, Any]], at: datetime) -> None:
    """Queue the same event of many incidents in one statement."""
    if not incidents or not await any_webhook(session):
        return
    await repository.add_events(
        session, [{"incident_id": UUID(str(data["id"])), "event": str(event), "data": dict(data), "at": at} for data in incidents]
    )
    await changes.wake_deliveries(session)
