"""How the targets of a rollout stand when it is taken back: read from their remedies and undo commands. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from wallwatch.domain.catalogue import load
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.present import UNDOABLE
from wallwatch_backend.remedies.repository import OPEN
from wallwatch_backend.rollouts.undoing import Standing

NEVER_DONE = frozenset({"failed", "expired"})
"""States of a remedy of which an agent may rightly answer that there is nothing to undo."""


def can_be_taken_back(action: str, remedies: Sequence[RemedyRow]) -> bool:
    """Say whether anything of these was done, or is being done, that an undo can put back."""
    known = load.remedies().get(action)
    return known is not None and known.reversible and any(remedy.state in (*OPEN, *UNDOABLE) for remedy in remedies)


def standing(remedy: RemedyRow | None, commands: Mapping[UUID, CommandRow], began_at: datetime) -> Standing:
    """How a target stands; attempts to undo it from before `began_at` do not count."""
    if remedy is None:
        return "nothing"
    if remedy.state == "undone":
        return "undone"
    command = commands.get(remedy.id)
    if command is not None and command.state in OPEN:
        return "asked"
    if command is not None and command.issued_at >= began_at:
        if command.code == "nothing_to_undo" and remedy.state in NEVER_DONE:
            return "nothing"
        return "silent" if command.state == "expired" else "failed"
    if remedy.state in OPEN:
        return "waits"
    return "to_undo" if remedy.state in UNDOABLE else "nothing"
