"""Signs commands and queues them for the agent of their host."""

from datetime import timedelta
from uuid import UUID, uuid4

from wallwatch_backend.hosts.command_keys import service as command_keys
from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.orders import notifications, repository
from wallwatch_backend.remedies.orders.action_hooks import hooks_of
from wallwatch_backend.remedies.orders.errors import RemedyInProgress
from wallwatch_backend.remedies.orders.schemas import Operation
from wallwatch_backend.remedies.states import CommandState
from wallwatch_backend.settings import Settings


async def check_nothing_in_progress(session: WriteSession, host: str, action: str, pci: str | None, but: UUID | None = None) -> None:
    """Raise when another remedy of the action, except `but`, is not over on this host."""
    other = await repository.in_progress(session, host, action, pci, but)
    if other is not None:
        raise in_progress(other)


def in_progress(other: UUID) -> RemedyInProgress:
    return RemedyInProgress(f"Remedy {other} still waits for the host's answer, or for approval.")


async def issue(session: WriteSession, settings: Settings, signer: CommandSigner, row: RemedyRow, operation: Operation) -> CommandRow:
    """Sign a command with the key that its host trusts; the commit wakes the process that holds the agent's connection."""
    return await issue_signed_by(session, settings, await command_keys.signer_for(session, signer, row.host), row, operation)


async def issue_signed_by(
    session: WriteSession, settings: Settings, signer: CommandSigner, row: RemedyRow, operation: Operation
) -> CommandRow:
    """`issue`, where the host's signer was chosen already."""
    if operation == "apply":
        await hooks_of(row.action).check_before_apply(session, row)
    command_id, at = uuid4(), clock.now()
    expires_at = at + timedelta(seconds=settings.command_ttl_s)
    jws = signer.sign(
        command_id=command_id,
        remedy_id=row.id,
        host=row.host,
        action=row.action,
        operation=operation,
        params=row.params,
        issued_at=at,
        expires_at=expires_at,
    )
    command = CommandRow(
        id=command_id,
        remedy_id=row.id,
        host=row.host,
        operation=operation,
        state=CommandState.queued,
        jws=jws,
        issued_at=at,
        expires_at=expires_at,
    )
    repository.keep(session, command)
    if operation == "apply":
        await notifications.notify(session, row)
    await changes.notify_dispatcher(session, row.host)
    await changes.announce(session, "remedy", row.id, row.state)
    return command
