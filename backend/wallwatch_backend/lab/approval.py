"""A second person approves or rejects a campaign on an RNIC of the fleet; one that nobody decides on expires."""

from datetime import timedelta
from uuid import UUID

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.session import persons
from wallwatch_backend.incidents import service as incidents
from wallwatch_backend.incidents.events import SYSTEM
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.kit.text import sentence
from wallwatch_backend.lab import permission, repository, service
from wallwatch_backend.lab.errors import NotPending
from wallwatch_backend.lab.models import CampaignRow, DeviceRow
from wallwatch_backend.lab.schemas import Campaign
from wallwatch_backend.lab.states import CAMPAIGN, CampaignState
from wallwatch_backend.remedies.orders.errors import SecondPersonNeeded
from wallwatch_backend.settings import Settings


async def _pending(session: WriteSession, settings: Settings, caller: Caller, campaign_id: UUID) -> tuple[CampaignRow, DeviceRow]:
    row = await repository.one_locked(session, campaign_id)
    device = None if row is None else await repository.device(session, row.device)
    if row is None or device is None:
        raise NotFound(f"There is no campaign {campaign_id}.")
    permission.require(settings, caller, device)
    if row.state != CampaignState.pending:
        raise NotPending(f"The campaign {CAMPAIGN[row.state].sentence}.")
    return row, device


async def approve(session: WriteSession, settings: Settings, caller: Caller, campaign_id: UUID, comment: str | None = None) -> Campaign:
    """Queue a campaign that somebody else requested, if the RNIC may still be tested."""
    row, device = await _pending(session, settings, caller, campaign_id)
    if await persons.is_requester(session, caller, row.requested_by, row.requester_ids):
        raise SecondPersonNeeded(f"{row.requested_by} requested it; a token counts as the person who created it.")
    await service.check_place(session, device)
    _decide(row, CampaignState.queued, caller.actor, comment)
    text = f"Approved the lab campaign on {row.device} that {row.requested_by} requested{f': {comment}' if comment else ''}"
    return await _record(session, settings, caller, row, "approve", sentence(text))


async def reject(session: WriteSession, settings: Settings, caller: Caller, campaign_id: UUID, reason: str) -> Campaign:
    """End a campaign that waits for approval; whoever may approve it may reject it, its requester too."""
    row, _ = await _pending(session, settings, caller, campaign_id)
    _decide(row, CampaignState.rejected, caller.actor, reason)
    _end(row, f"Rejected by {caller.actor}: {reason}")
    return await _record(session, settings, caller, row, "reject", sentence(f"Rejected the lab campaign on {row.device}: {reason}"))


def _decide(row: CampaignRow, state: CampaignState, actor: str, comment: str | None) -> None:
    at = clock.now()
    row.state, row.decided_by, row.decided_at, row.decision_comment, row.updated_at = state, actor, at, comment, at


def _end(row: CampaignRow, message: str) -> None:
    """It never ran, so no webhook reports its end: `announced_at` keeps the worker from it."""
    row.message, row.ended_at, row.announced_at = message, row.updated_at, row.updated_at


async def _record(session: WriteSession, settings: Settings, caller: Caller, row: CampaignRow, decision: str, text: str) -> Campaign:
    await session.flush()
    audit.record(
        session, caller.actor, f"lab.{decision}", row.device, address=caller.address,
        campaign_id=str(row.id), requested_by=row.requested_by, comment=row.decision_comment,
    )  # fmt: skip
    await incidents.note(session, row.incident_id, "lab", caller.actor, text, campaign_id=str(row.id))
    await changes.announce(session, "campaign", row.id, row.state)
    return await service.get(session, settings, row.id)


async def expire(session: WriteSession, ttl: timedelta, limit: int) -> int:
    """Expire campaigns that nobody decided on; return how many. A cordon from yesterday says nothing about today."""
    rows = await repository.pending_since(session, clock.now() - ttl, limit)
    for row in rows:
        row.state, row.updated_at = CampaignState.expired, clock.now()
        _end(row, "Nobody approved it in time.")
        audit.record(session, SYSTEM, "lab.expired", row.device, outcome="failed", campaign_id=str(row.id), requested_by=row.requested_by)
        text = f"Nobody approved the lab campaign on {row.device} in time."
        await incidents.note(session, row.incident_id, "lab", SYSTEM, text, campaign_id=str(row.id))
        await changes.announce(session, "campaign", row.id, row.state)
    return len(rows)
