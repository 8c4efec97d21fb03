"""Writes events for receivers in the transaction that made them, so that neither exists without the other."""

from datetime import datetime
from typing import Any

import orjson

from wallwatch_backend.kit import changes
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.webhooks import repository
from wallwatch_backend.webhooks.models import DeliveryRow
from wallwatch_backend.webhooks.schemas import EventType


def body_of(event: str, data: dict[str, Any], at: datetime) -> str:
    """The body that is signed and sent: `{type, timestamp, data}`."""
    return orjson.dumps({"type": event, "timestamp": at, "data": data}, option=orjson.OPT_UTC_Z).decode()


async def add(session: WriteSession, event: EventType, data: dict[str, Any], at: datetime) -> int:
    """Queue an event for every webhook that wants it; return for how many."""
    webhook_ids = await repository.subscribed(session, str(event))
    for webhook_id in webhook_ids:
        await repository.add(
            session,
            DeliveryRow(webhook_id=webhook_id, event=str(event), body=body_of(str(event), data, at), state="pending", next_attempt_at=at),
        )
    if webhook_ids:
        await changes.wake_deliveries(session)
    return len(webhook_ids)
