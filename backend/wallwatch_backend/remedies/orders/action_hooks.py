"""What single actions need beyond the catalogue. The folder that owns such an action registers its hooks; orders know none by name."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.remedies.models import CommandRow, RemedyRow

Samples = Sequence[tuple[datetime, float]]
Attachment = tuple[str, bytes]
"""SHA-256 and content of what is sent to the agent ahead of a command."""


class ActionHooks:
    """The hooks of an action that needs none; override what an action needs."""

    batchable = True
    """False where an order may still be refused after it was accepted: it then goes through a transaction of its own."""

    async def bound_params(self, session: WriteSession, host: str, pci: str | None, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters to check, sign and send; raise a `WallwatchError` where the order cannot be accepted."""
        return params

    async def on_ordered(self, session: WriteSession, remedy: RemedyRow) -> None:
        """The order was accepted."""

    async def check_before_apply(self, session: ReadSession, remedy: RemedyRow) -> None:
        """Raise a `WallwatchError` where the remedy must not run any more; it may have waited for approval."""

    async def on_result(self, session: WriteSession, remedy: RemedyRow, command: CommandRow) -> None:
        """The agent answered a command."""

    async def attachment(self, session: ReadSession, command_id: UUID) -> Attachment | None:
        """Return what has to be sent ahead of a command that is no undo."""
        return None

    async def samples(self, session: ReadSession, remedy: RemedyRow, since: datetime) -> Samples | None:
        """Return the samples that verify the remedy, oldest first; None: those of the catalogue's signal."""
        return None


_NONE = ActionHooks()
_registered: dict[str, ActionHooks] = {}


def register(action_id: str, hooks: ActionHooks) -> None:
    """Set the hooks of an action, once at start."""
    _registered[action_id] = hooks


def hooks_of(action_id: str) -> ActionHooks:
    return _registered.get(action_id, _NONE)
