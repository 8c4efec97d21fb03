"""How far the targets of a rollout are rolled back, from their remedies and undo commands. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from wallwatch.domain.catalogue import load
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.rollouts.undo_order import Standing
from wallwatch_backend.remedies.states import BEFORE_RESULT, OPEN_COMMAND, REMEDY, UNDOABLE, CommandState, RemedyState

MAYBE_UNCHANGED = REMEDY.where(lambda state: state.undoable and state.on_host == "unknown")
"""States of a remedy in which the agent may rightly answer that there is nothing to undo."""


def may_have_changed(remedy: RemedyRow) -> bool:
    """Whether a remedy has changed its host, may have, or is about to."""
    return remedy.state in (*BEFORE_RESULT, *UNDOABLE)


def can_be_undone(action: str, remedies: Sequence[RemedyRow]) -> bool:
    """Whether any of these changes something that an undo can restore."""
    info = load.remedies().get(action)
    return info is not None and info.reversible and any(may_have_changed(remedy) for remedy in remedies)


def standing(remedy: RemedyRow | None, commands: Mapping[UUID, CommandRow], began_at: datetime) -> Standing:
    """How far one target is; undo commands from before `began_at` do not count."""
    if remedy is None:
        return "nothing"
    if remedy.state == RemedyState.undone:
        return "undone"
    command = commands.get(remedy.id)
    if command is not None and command.state in OPEN_COMMAND:
        return "requested"
    if command is not None and command.issued_at >= began_at:
        if command.code == "nothing_to_undo" and remedy.state in MAYBE_UNCHANGED:
            return "nothing"
        return "silent" if command.state == CommandState.expired else "failed"
    if remedy.state in BEFORE_RESULT:
        return "applying"
    return "to_undo" if remedy.state in UNDOABLE else "nothing"
