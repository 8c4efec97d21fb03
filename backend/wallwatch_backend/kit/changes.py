"""The change feed: notifies every replica of changed incidents, remedies, agents, ... with the commit of the change."""

from typing import Literal
from uuid import UUID

import orjson

from wallwatch_backend.kit.database import WriteSession

CHANNEL = "wallwatch_change"
COMMAND_CHANNEL = "wallwatch_command"
DELIVERY_CHANNEL = "wallwatch_delivery"

Kind = Literal["incident", "remedy", "agent", "policy", "plan", "command_key", "agent_authority", "campaign", "access"]


async def announce(session: WriteSession, kind: Kind, id: UUID | str, state: str, **extra: str | None) -> None:
    """Notify streams of a new state; PostgreSQL sends it when the transaction commits."""
    session.notify(CHANNEL, orjson.dumps({"kind": kind, "id": str(id), "state": state, **extra}).decode())


async def announce_many(session: WriteSession, kind: Kind, count: int) -> None:
    """Notify streams that many changed at once: they are not named, and clients fetch their lists again."""
    session.notify(CHANNEL, orjson.dumps({"kind": kind, "count": count}).decode())


async def notify_dispatcher(session: WriteSession, host: str) -> None:
    """Notify the replica that holds the connection of the host's agent that a command is waiting."""
    session.notify(COMMAND_CHANNEL, host)


async def wake_deliveries(session: WriteSession) -> None:
    """Notify the webhook dispatcher of new events in the outbox."""
    session.notify(DELIVERY_CHANNEL, "")
