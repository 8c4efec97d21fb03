"""A remedy in a trace of its own, and as one step in the trace of its incident: who waited how long for what, until the proof."""

from collections.abc import Iterator, Sequence

from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.subject_traces import ROOT, Step, context_of, request_now
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.orders import repository
from wallwatch_backend.remedies.states import REMEDY, CommandState, RemedyState

_BAD = "bad"


async def note(session: WriteSession, row: RemedyRow) -> None:
    """Trace a state that a remedy has entered: by whose request, and at its end the way there."""
    if links := request_now():
        session.trace(row.id, Step(f"remedy {row.state}", row.updated_at, row.updated_at, f"{row.state}", links=links))
    state = REMEDY[row.state]
    if not state.over:
        return
    await session.flush()
    commands = await repository.commands(session, [row.id])
    if row.state == RemedyState.undone:
        session.trace(row.id, *(step for command in commands if command.operation == "undo" for step in _of_command(command)))
        return
    failure = (row.message or row.code or state.label) if state.outcome == _BAD else None
    attributes = {
        "wallwatch.action": row.action,
        "wallwatch.host": row.host,
        "wallwatch.pci": row.pci,
        "wallwatch.state": row.state,
        "wallwatch.incident_id": str(row.incident_id) if row.incident_id is not None else None,
        "wallwatch.requested_by": row.requested_by,
    }
    name, incident = f"remedy {row.action}", row.incident_id
    of_incident = [context_of(incident)] if incident is not None else []
    session.trace(row.id, Step(name, row.created_at, row.updated_at, ROOT, attributes, failure, of_incident), *_way(row, commands))
    if incident is not None:
        step = Step(name, row.created_at, row.updated_at, f"remedy {row.id}", attributes, failure, [context_of(row.id)])
        session.trace(incident, step)


def _way(row: RemedyRow, commands: Sequence[CommandRow]) -> Iterator[Step]:
    if row.decided_at is not None:
        yield Step("wait for approval", row.created_at, row.decided_at, "approval", {"wallwatch.decided_by": row.decided_by})
    for command in commands:
        if command.operation == "apply":
            yield from _of_command(command)
    if row.applied_at is not None:
        yield Step("verify", row.applied_at, row.updated_at, "verify")


def _of_command(command: CommandRow) -> Iterator[Step]:
    sent_at, finished_at, name = command.sent_at, command.finished_at, f"{command.operation} on the host"
    if sent_at is not None:
        yield Step("wait for the agent", command.issued_at, sent_at, f"{command.id} sent")
    if finished_at is not None:
        failure = None if command.state == CommandState.done else command.message or command.code or command.state
        yield Step(name, sent_at or command.issued_at, finished_at, f"{command.id} finished", {"wallwatch.state": command.state}, failure)
