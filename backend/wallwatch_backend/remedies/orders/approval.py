"""A second person approves or rejects a pending remedy; one that nobody decides on expires."""

from typing import Any
from uuid import UUID

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.session import persons
from wallwatch_backend.hosts.agents import repository as agents
from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.incidents.service import note_remedy
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.kit.text import sentence
from wallwatch_backend.remedies.control import repository as admission
from wallwatch_backend.remedies.control import service as control
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import actions, issuing, notifications, present, repository
from wallwatch_backend.remedies.orders.errors import NoAgent, NotPending, SecondPersonNeeded
from wallwatch_backend.remedies.orders.schemas import Remedy
from wallwatch_backend.remedies.states import REMEDY, RemedyState
from wallwatch_backend.settings import Settings


async def _pending(session: WriteSession, remedy_id: UUID) -> RemedyRow:
    row = await repository.one_locked(session, remedy_id)
    if row is None:
        raise NotFound(f"There is no remedy {remedy_id}.")
    if row.state != RemedyState.pending:
        raise NotPending(f"The remedy {REMEDY[row.state].sentence}.")
    return row


async def approve(
    session: WriteSession, settings: Settings, signer: CommandSigner, caller: Caller, remedy_id: UUID, comment: str | None = None
) -> Remedy:
    await admission.lock(session)  # before the row, as an emergency stop does
    row = await _pending(session, remedy_id)
    if await persons.is_requester(session, caller, row.requested_by, row.requester_ids):
        raise SecondPersonNeeded(f"{row.requested_by} requested it; a token counts as its owner and whoever created it.")
    if await agents.by_host(session, row.host) is None:
        raise NoAgent(f"The agent of {row.host} was removed; enrol it again first.")
    await repository.lock_key(session, repository.place_lock(row.host, row.action))
    await control.admit(session, settings, row.action, row.host)
    row.state, row.decided_by, row.decided_at, row.updated_at = RemedyState.approved, caller.actor, (at := clock.now()), at
    row.decision_comment = comment
    pci = row.pci if actions.action_of(row.action).scope == "rnic" else None
    await issuing.check_nothing_in_progress(session, row.host, row.action, pci, row.id)
    await issuing.issue(session, settings, signer, row, "apply")
    text = sentence(f"Approved {row.action}, which {row.requested_by} proposed{f': {comment}' if comment else ''}")
    return await _record(session, caller, row, "approve", text, comment=comment)


async def reject(session: WriteSession, caller: Caller, remedy_id: UUID, reason: str) -> Remedy:
    row = await _pending(session, remedy_id)
    at = clock.now()
    row.state, row.message, row.decided_by, row.decided_at, row.updated_at = RemedyState.rejected, reason, caller.actor, at, at
    row.decision_comment = reason
    await notifications.notify(session, row)
    await changes.announce(session, "remedy", row.id, row.state)
    return await _record(session, caller, row, "reject", sentence(f"Rejected {row.action}: {reason}"), reason=reason)


async def _record(session: WriteSession, caller: Caller, row: RemedyRow, decision: str, text: str, **detail: Any) -> Remedy:
    audit.record(
        session,
        caller.actor,
        f"remedy.{decision}",
        f"{row.host} {row.pci or ''}".strip(),
        address=caller.address,
        remedy_id=str(row.id),
        remedy_action=row.action,
        requested_by=row.requested_by,
        **detail,
    )
    await note_remedy(session, row.incident_id, caller.actor, text)
    return await present.remedy(session, row)


async def expire(session: WriteSession, remedy_id: UUID) -> None:
    """Expire a pending remedy that nobody decided on."""
    row = await repository.one_locked(session, remedy_id)
    if row is None or row.state != RemedyState.pending:
        return
    row.state, row.message, row.updated_at = RemedyState.expired, "Nobody approved it in time.", clock.now()
    await notifications.notify(session, row)
    audit.record(
        session, "system", "remedy.propose.expired", f"{row.host} {row.pci or ''}".strip(), outcome="failed", remedy_id=str(row.id)
    )
    await note_remedy(session, row.incident_id, "wallwatch", f"Nobody approved {row.action} in time.")
    await changes.announce(session, "remedy", row.id, row.state)
