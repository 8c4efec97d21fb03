"""Turns rows of remedies into what API and webhooks show."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from wallwatch.domain.catalogue import load
from wallwatch_backend.incidents.inhibition import repository as inhibition_repository
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.orders import repository
from wallwatch_backend.remedies.orders.schemas import ChangeFact, Command, EffectFact, HostOperation, InhibitedFinding, Remedy, SymptomFact
from wallwatch_backend.remedies.states import OPEN_COMMAND, UNDOABLE, CommandState


def undoable(row: RemedyRow, commands: Sequence[CommandRow]) -> bool:
    """Whether a request to undo it would be accepted."""
    undo_open = any(command.operation == "undo" and command.state in OPEN_COMMAND for command in commands)
    reversible = (action := load.remedies().get(row.action)) is not None and action.reversible
    return row.mode == "apply" and row.state in UNDOABLE and reversible and not undo_open


def assembled(
    row: RemedyRow, commands: Sequence[CommandRow], inhibited: Sequence[Any] = (), symptom: repository.SymptomNow | None = None
) -> Remedy:
    """`inhibited` are the findings that it has caused, `symptom` that of its incident; a new order has none."""
    undo = next((command for command in reversed(commands) if command.operation == "undo"), None)
    return Remedy.model_validate(
        {
            "id": row.id,
            "action": row.action,
            "host": row.host,
            "pci": row.pci,
            "params": row.params,
            "mode": row.mode,
            "state": row.state,
            "incident_id": row.incident_id,
            "rollout_id": row.rollout_id,
            "requested_by": row.requested_by,
            "decided_by": row.decided_by,
            "decided_at": row.decided_at,
            "decision_comment": row.decision_comment,
            "created_at": row.created_at,
            "updated_at": row.updated_at,
            "code": row.code,
            "message": row.message,
            "operations": [HostOperation.model_validate(operation) for operation in row.operations],
            "applied_at": row.applied_at,
            "change": ChangeFact.model_validate(row.change) if row.change else None,
            "effect": EffectFact.model_validate(row.effect) if row.effect else None,
            "symptom": SymptomFact.model_validate(symptom._asdict()) if symptom is not None else None,
            "undoable": undoable(row, commands),
            "undo_state": undo.state if undo is not None and undo.state != CommandState.done else None,
            "inhibited": [InhibitedFinding.model_validate(finding, from_attributes=True) for finding in inhibited],
            "commands": [Command.model_validate({"command_id": c.id, **{k: getattr(c, k) for k in _COMMAND_FIELDS}}) for c in commands],
        }
    )


_COMMAND_FIELDS = ("operation", "state", "code", "message", "issued_at", "expires_at", "finished_at")


async def remedies(session: ReadSession, rows: Sequence[RemedyRow]) -> list[Remedy]:
    by_remedy: dict[UUID, list[CommandRow]] = defaultdict(list)
    for command in await repository.commands(session, [row.id for row in rows]):
        by_remedy[command.remedy_id].append(command)
    inhibited: dict[UUID, list[Any]] = defaultdict(list)
    disturbing = [row.id for row in rows if row.mode == "apply" and row.action in inhibition_repository.disturbing()]
    for finding in await inhibition_repository.findings_of_remedies(session, disturbing) if disturbing else ():
        inhibited[finding.inhibited_by].append(finding)
    of_incidents = [row.id for row in rows if row.change is not None and row.incident_id is not None]
    symptoms = await repository.symptoms_now(session, of_incidents) if of_incidents else {}
    return [assembled(row, by_remedy[row.id], inhibited[row.id], symptoms.get(row.id)) for row in rows]


async def remedy(session: ReadSession, row: RemedyRow) -> Remedy:
    return (await remedies(session, [row]))[0]
