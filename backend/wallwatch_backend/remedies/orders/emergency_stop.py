"""The emergency stop: nothing is applied from now on, and what has not been sent yet expires."""

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.remedies.control import service as control
from wallwatch_backend.remedies.orders import notifications, repository
from wallwatch_backend.remedies.states import CommandState, RemedyState


async def stop_all(session: WriteSession, caller: Caller, reason: str) -> None:
    """Stop all remedies. A command that a host has started continues; undo and dry runs stay possible."""
    at = clock.now()
    await control.begin_stop(session, caller, reason, at)
    unsent = await repository.unsent_applies(session)
    for row in unsent:
        row.state, row.message, row.updated_at = RemedyState.expired, f"{caller.actor} stopped all remedies: {reason}", at
        for command in await repository.commands(session, [row.id]):
            if command.state == CommandState.queued:
                command.state, command.message, command.finished_at = CommandState.expired, "Stopped before it was sent.", at
        await notifications.notify(session, row)
        await changes.announce(session, "remedy", row.id, row.state)
    audit.record(session, caller.actor, "remedy_control.stop", "all remedies", address=caller.address, reason=reason, withdrawn=len(unsent))
