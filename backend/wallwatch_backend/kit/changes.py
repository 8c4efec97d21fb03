"""The change feed: incidents, remedies and agents tell every replica that they changed, with the commit of the change."""

from typing import Literal
from uuid import UUID

import orjson

from wallwatch_backend.kit.database import WriteSession

CHANNEL = "wallwatch_change"
COMMAND_CHANNEL = "wallwatch_command"
DELIVERY_CHANNEL = "wallwatch_delivery"

Kind = Literal["incident", "remedy", "agent", "policy", "plan", "command_key", "agent_authority"]


async def announce(session: WriteSession, kind: Kind, id: UUID | str, state: str, **extra: str | None) -> None:
    """Tell streams that something has a new state; PostgreSQL sends it when the transaction commits."""
    session.notify(CHANNEL, orjson.dumps({"kind": kind, "id": str(id), "state": state, **extra}).decode())


async def announce_many(session: WriteSession, kind: Kind, count: int) -> None:
    """Tell streams that many have changed at once: they are not named, whoever shows a list fetches it again."""
    session.notify(CHANNEL, orjson.dumps({"kind": kind, "count": count}).decode())


async def wake_dispatcher(session: WriteSession, host: str) -> None:
    """Tell the replica that holds the host's agent that a command is waiting."""
    session.notify(COMMAND_CHANNEL, host)


async def wake_deliveries(session: WriteSession) -> None:
    """Tell the webhook dispatcher that the outbox has something new."""
    session.notify(DELIVERY_CHANNEL, "")
