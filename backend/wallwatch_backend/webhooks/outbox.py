"""Takes events from incidents in the transaction that made them, so that neither exists without the other.

What becomes of an event (which webhook, which form, when) is decided afterwards, by `router`, from what is stored here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.kit import changes
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.webhooks import repository
from wallwatch_backend.webhooks.schemas import EventType

_LISTENS = "webhooks.anyone_listens"


async def anyone_listens(session: ReadSession) -> bool:
    """Whether there is a webhook at all; ask before an event is put together for nobody. The database is asked once a transaction."""
    if _LISTENS not in session.info:
        session.info[_LISTENS] = await repository.any_enabled(session)
    return bool(session.info[_LISTENS])


async def add(session: WriteSession, event: EventType, data: Mapping[str, Any], at: datetime) -> None:
    """Hand over one event; `data` is the incident as the API shows it (JSON, with its `id`)."""
    await add_many(session, event, [data], at)


async def add_many(session: WriteSession, event: EventType, incidents: Sequence[Mapping[str, Any]], at: datetime) -> None:
    """Hand over the same event of many incidents in one statement."""
    if not incidents or not await anyone_listens(session):
        return
    await repository.add_events(
        session, [{"incident_id": UUID(str(data["id"])), "event": str(event), "data": dict(data), "at": at} for data in incidents]
    )
    await changes.wake_deliveries(session)
