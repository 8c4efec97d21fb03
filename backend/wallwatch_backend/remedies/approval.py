"""A second person's yes or no to what was proposed; proposals that nobody answers expire."""

from typing import Any
from uuid import UUID

from wallwatch_backend.agents import repository as agents
from wallwatch_backend.audit import service as audit
from wallwatch_backend.automation import repository as automation
from wallwatch_backend.control import repository as admission
from wallwatch_backend.control import service as control
from wallwatch_backend.incidents.service import note_remedy
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.kit.text import sentence
from wallwatch_backend.remedies import actions, present, repository, service, telling
from wallwatch_backend.remedies.errors import NoAgent, NotProposed, SecondPersonNeeded
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.schemas import Remedy
from wallwatch_backend.remedies.signing import CommandSigner
from wallwatch_backend.settings import Settings
from wallwatch_backend.tokens import repository as tokens

_PREFIX = "token:"
_RULE = "automation:"


async def _people(session: ReadSession, actor: str) -> set[str]:
    """Who may stand behind an actor: the actor, of a token whoever made one of that name, of a rule who made it and switched it on."""
    if actor.startswith(_RULE):
        rule = await automation.rule_named(session, actor.removeprefix(_RULE))
        behind = {rule.created_by, rule.enabled_by} - {None} if rule is not None else set()
        return {actor}.union(*[await _people(session, one) for one in behind if one is not None])
    if not actor.startswith(_PREFIX):
        return {actor}
    return {actor, *await tokens.makers(session, actor.removeprefix(_PREFIX))}


async def same_person(session: ReadSession, one: str, other: str) -> bool:
    """Say whether the same person may stand behind two actors; a token counts as whoever made it."""
    return bool(await _people(session, one) & await _people(session, other))


async def _proposed(session: WriteSession, remedy_id: UUID) -> RemedyRow:
    row = await repository.one_locked(session, remedy_id)
    if row is None:
        raise NotFound(f"There is no remedy {remedy_id}.")
    if row.state != "proposed":
        raise NotProposed(f"The remedy is {row.state}.")
    return row


async def approve(
    session: WriteSession, settings: Settings, signer: CommandSigner, caller: Caller, remedy_id: UUID, comment: str | None = None
) -> Remedy:
    await admission.lock(session)  # before the row, as whoever stops all remedies does
    row = await _proposed(session, remedy_id)
    if await same_person(session, caller.actor, row.requested_by):
        raise SecondPersonNeeded(f"{row.requested_by} ordered it; a token counts as the person who made it.")
    if await agents.by_host(session, row.host) is None:
        raise NoAgent(f"The agent of {row.host} was removed; enrol it again first.")
    await repository.lock_key(session, f"host|{row.host}|{row.action}")
    await control.admit(session, settings, row.action, row.host)
    row.state, row.decided_by, row.decided_at, row.updated_at = "pending", caller.actor, (at := clock.now()), at
    row.decision_comment = comment
    await service.nothing_in_progress(
        session, row.host, row.action, row.pci if actions.action_of(row.action).scope == "rnic" else None, row.id
    )
    await service.issue(session, settings, signer, row, "apply")
    said = f": {comment}" if comment else ""
    return await _decided(
        session, caller, row, "approve", sentence(f"Approved {row.action}, which {row.requested_by} proposed{said}"), comment=comment
    )


async def reject(session: WriteSession, caller: Caller, remedy_id: UUID, reason: str) -> Remedy:
    row = await _proposed(session, remedy_id)
    at = clock.now()
    row.state, row.message, row.decided_by, row.decided_at, row.updated_at = "rejected", reason, caller.actor, at, at
    row.decision_comment = reason
    await telling.tell(session, row)
    await changes.announce(session, "remedy", row.id, row.state)
    return await _decided(session, caller, row, "reject", sentence(f"Rejected {row.action}: {reason}"), reason=reason)


async def _decided(session: WriteSession, caller: Caller, row: RemedyRow, decision: str, text: str, **detail: Any) -> Remedy:
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
    return (await present.many(session, [row]))[0]


async def expire(session: WriteSession, remedy_id: UUID) -> None:
    """Give up a proposal that nobody answered."""
    row = await repository.one_locked(session, remedy_id)
    if row is None or row.state != "proposed":
        return
    row.state, row.message, row.updated_at = "expired", "Nobody approved it in time.", clock.now()
    await telling.tell(session, row)
    audit.record(
        session, "system", "remedy.propose.expired", f"{row.host} {row.pci or ''}".strip(), outcome="failed", remedy_id=str(row.id)
    )
    await note_remedy(session, row.incident_id, "wallwatch", f"Nobody approved {row.action} in time.")
    await changes.announce(session, "remedy", row.id, row.state)
