"""Ordering remedies: checked against the catalogue, signed, and put where the host's agent is told of them."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid4

from wallwatch_backend.agents import repository as agents
from wallwatch_backend.audit import service as audit
from wallwatch_backend.command_keys import service as command_keys
from wallwatch_backend.control import repository as admission
from wallwatch_backend.control import service as control
from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.incidents.service import note_remedy
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, hash_of
from wallwatch_backend.kit.idempotency import lock as lock_idempotency_key
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.plans import binding
from wallwatch_backend.plans import repository as plans
from wallwatch_backend.remedies import actions, present, repository, telling
from wallwatch_backend.remedies.errors import IncidentUnknown, NoAgent, NotUndoable, RemedyInProgress
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.schemas import NewRemedy, Operation, Remedy, RemedyState
from wallwatch_backend.remedies.signing import CommandSigner
from wallwatch_backend.settings import Settings


async def _one(session: ReadSession, row: RemedyRow) -> Remedy:
    return (await present.many(session, [row]))[0]


async def create(
    session: WriteSession,
    settings: Settings,
    signer: CommandSigner,
    caller: Caller,
    body: NewRemedy,
    idempotency_key: str | None,
    part_of: tuple[UUID, int] | None = None,
) -> Remedy:
    """Order a remedy. With an Idempotency-Key that was used before, return that order instead.

    `part_of` is a rollout and its wave: who approved that has approved each of its orders.
    """
    request_hash = hash_of(body.model_dump(mode="json"))
    if idempotency_key is not None:
        await lock_idempotency_key(session, caller, idempotency_key)
        earlier = await repository.by_idempotency_key(session, caller.actor, idempotency_key)
        if earlier is not None:
            if earlier.request_hash != request_hash:
                raise IdempotencyKeyReused("Use a new Idempotency-Key for a different order.")
            return await _one(session, earlier)
    action = actions.action_of(body.action)
    planned = body.params
    if body.action == plans.APPLY:
        planned = await binding.bound_params(session, body.host, body.pci, body.params)
    params = actions.checked_params(action, body.pci, planned)
    if await agents.by_host(session, body.host) is None:
        raise NoAgent(f"Enrol an agent on {body.host} first: wallwatch agent enrol --host {body.host}")
    if body.incident_id is not None and await incidents.one(session, body.incident_id) is None:
        raise IncidentUnknown(f"There is no incident {body.incident_id}.")
    if body.mode == "apply":
        await admission.lock(session)  # before the host's, as an approval does
    await repository.lock_key(session, f"host|{body.host}|{body.action}")
    await nothing_in_progress(session, body.host, body.action, body.pci if action.scope == "rnic" else None)
    proposed = body.mode == "apply" and part_of is None and (body.propose or actions.needs_approval(action, settings))
    if body.mode == "apply" and not proposed:
        await control.admit(session, settings, body.action, body.host)
    at = clock.now()
    row = RemedyRow(
        id=uuid4(),
        action=body.action,
        host=body.host,
        pci=body.pci,
        params=params,
        mode=body.mode,
        state="proposed" if proposed else "pending",
        incident_id=body.incident_id,
        rollout_id=part_of[0] if part_of is not None else None,
        rollout_wave=part_of[1] if part_of is not None else None,
        requested_by=caller.actor,
        created_at=at,
        updated_at=at,
        operations=[],
        idempotency_key=idempotency_key,
        request_hash=request_hash,
    )
    await repository.add(session, row)
    if row.action == plans.APPLY:
        await binding.ordered(session, row)
    if proposed:
        await telling.tell(session, row)
        await changes.announce(session, "remedy", row.id, row.state)
    else:
        await issue(session, settings, signer, row, body.mode)
    audit.record(
        session,
        caller.actor,
        "remedy.propose" if proposed else f"remedy.{body.mode}",
        f"{body.host} {body.pci or ''}".strip(),
        address=caller.address,
        remedy_id=str(row.id),
        remedy_action=body.action,
        params=params,
    )
    what = "Dry run of" if body.mode == "dry_run" else "Proposed" if proposed else "Ordered"
    await note_remedy(session, row.incident_id, caller.actor, f"{what} {body.action} {_params_text(params)}.")
    return await _one(session, row)


def _params_text(params: dict[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(params.items()))


async def nothing_in_progress(session: WriteSession, host: str, action: str, pci: str | None, but: UUID | None = None) -> None:
    """Raise when another remedy of the action, except `but`, is not over on this host."""
    other = await repository.in_progress(session, host, action, pci, but)
    if other is not None:
        raise RemedyInProgress(f"Remedy {other} still waits for the host's answer, or for approval.")


async def issue(session: WriteSession, settings: Settings, signer: CommandSigner, row: RemedyRow, operation: Operation) -> None:
    """Sign a command and wake whoever holds the agent's connection, with the commit."""
    if row.action == plans.APPLY and operation == "apply":
        await binding.still_good(session, row)
    command_id, at = uuid4(), clock.now()
    expires_at = at + timedelta(seconds=settings.command_ttl_s)
    jws = (await command_keys.signer_for(session, signer, row.host)).sign(
        command_id=command_id,
        remedy_id=row.id,
        host=row.host,
        action=row.action,
        operation=operation,
        params=row.params,
        issued_at=at,
        expires_at=expires_at,
    )
    await repository.add(
        session,
        CommandRow(
            id=command_id,
            remedy_id=row.id,
            host=row.host,
            operation=operation,
            state="pending",
            jws=jws,
            issued_at=at,
            expires_at=expires_at,
        ),
    )
    if operation == "apply":
        await telling.tell(session, row)
    await changes.wake_dispatcher(session, row.host)
    await changes.announce(session, "remedy", row.id, row.state)


async def undo(session: WriteSession, settings: Settings, signer: CommandSigner, caller: Caller, remedy_id: UUID) -> Remedy:
    row = await repository.one_locked(session, remedy_id)
    if row is None:
        raise NotFound(f"There is no remedy {remedy_id}.")
    if not present.undoable(row, await repository.commands(session, [row.id])):
        raise NotUndoable(f"The remedy is {row.state}; only one that was applied, and whose undo is not under way, can be undone.")
    if await agents.by_host(session, row.host) is None:
        raise NoAgent(f"The agent of {row.host} was removed; enrol it again first.")
    await repository.lock_key(session, f"host|{row.host}|{row.action}")
    scope = actions.action_of(row.action).scope
    await nothing_in_progress(session, row.host, row.action, row.pci if scope == "rnic" else None)
    row.updated_at = clock.now()
    await issue(session, settings, signer, row, "undo")
    audit.record(
        session,
        caller.actor,
        "remedy.undo",
        f"{row.host} {row.pci or ''}".strip(),
        address=caller.address,
        remedy_id=str(row.id),
        remedy_action=row.action,
    )
    await note_remedy(session, row.incident_id, caller.actor, f"Asked to undo {row.action}.")
    return await _one(session, row)


async def get(session: ReadSession, remedy_id: UUID) -> Remedy:
    row = await repository.one(session, remedy_id)
    if row is None:
        raise NotFound(f"There is no remedy {remedy_id}.")
    return await _one(session, row)


async def list_remedies(
    session: ReadSession,
    *,
    host: str | None,
    pci: str | None,
    incident_id: UUID | None,
    states: Sequence[RemedyState] | None,
    limit: int,
    cursor: str | None,
) -> Page[Remedy]:
    rows = await repository.page(
        session,
        host=host,
        pci=pci,
        incident_id=incident_id,
        states=[str(state) for state in states] if states else None,
        before=time_and_id(cursor),
        limit=limit + 1,
    )
    items = await present.many(session, rows[:limit])
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)
