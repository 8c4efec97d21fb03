"""Ordering remedies: checked against the catalogue, signed, and put where the host's agent is told of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from uuid import UUID, uuid4

from wallwatch.domain.catalogue import load
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
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, hash_of, lock_name
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound, WallwatchError
from wallwatch_backend.kit.text import sentence
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


@dataclass(frozen=True)
class Ask:
    """An order that somebody gives. `part_of` is a rollout and its wave: who approved that has approved each of its orders."""

    caller: Caller
    body: NewRemedy
    idempotency_key: str | None
    part_of: tuple[UUID, int] | None = None

    @cached_property
    def request_hash(self) -> str:
        return hash_of(self.body.model_dump(mode="json"))

    @property
    def place(self) -> repository.Place:
        body = self.body
        pci = body.pci if actions.action_of(body.action).scope == "rnic" else None
        return repository.Place(body.host, body.action, pci, self.caller.actor, self.idempotency_key)

    @property
    def names(self) -> list[str]:
        """Locks: of its key, and of the host and action."""
        key = [] if self.idempotency_key is None else [lock_name(self.caller, self.idempotency_key)]
        return [*key, f"host|{self.body.host}|{self.body.action}"]


async def create(
    session: WriteSession,
    settings: Settings,
    signer: CommandSigner,
    caller: Caller,
    body: NewRemedy,
    idempotency_key: str | None,
    part_of: tuple[UUID, int] | None = None,
) -> Remedy:
    """Order a remedy. With an Idempotency-Key that was used before, return that order instead."""
    ask, at = Ask(caller, body, idempotency_key, part_of), clock.now()
    place, names = ask.place, ask.names
    if body.mode == "apply":
        await repository.lock_keys(session, names[:-1])
        await admission.lock(session)  # before the host's, as an approval does
        names = names[-1:]
    await repository.lock_keys(session, names)
    [standing] = await repository.standings(session, [place], at)
    row = await _accepted(session, settings, ask, standing, at)
    if row.id == standing.earlier:
        return await _one(session, row)
    await session.flush()
    return await _ordered(session, settings, signer, ask, standing, row)


async def create_together(
    session: WriteSession, settings: Settings, signer: CommandSigner, asks: Sequence[Ask]
) -> list[Remedy | WallwatchError | None]:
    """Take many orders in one transaction: the remedy, why it was refused, or None for one that has to be ordered by itself.

    It waits for no lock, so that nobody's order waits for a stranger's and no two transactions for each other. By itself goes what would
    have to wait, what concerns the same host as an order before it, what is for an incident, whose row is locked, and a mask plan, which
    can be refused late.
    """
    answers: list[Remedy | WallwatchError | None] = [None] * len(asks)
    at, seen, chosen = clock.now(), set[str](), list[int]()
    applies = any(ask.body.mode == "apply" for ask in asks) and await admission.locked_at_once(session)
    for number, ask in enumerate(asks):
        if ask.body.action not in load.remedies():
            answers[number] = actions.unknown(ask.body.action)
        elif (
            ask.body.action != plans.APPLY
            and ask.body.incident_id is None
            and (applies or ask.body.mode != "apply")
            and seen.isdisjoint(ask.names)
        ):
            seen.update(ask.names)
            chosen.append(number)
    free = await repository.locked_at_once(session, [asks[number].names for number in chosen]) if chosen else []
    chosen = [number for number, is_free in zip(chosen, free, strict=True) if is_free]
    if not chosen:
        return answers
    accepted = []
    for number, standing in zip(chosen, await repository.standings(session, [asks[number].place for number in chosen], at), strict=True):
        try:
            accepted.append((number, standing, await _accepted(session, settings, asks[number], standing, at)))
        except WallwatchError as refused:
            answers[number] = refused
    await session.flush()
    for number, standing, row in accepted:
        known = row.id == standing.earlier
        answers[number] = await _one(session, row) if known else await _ordered(session, settings, signer, asks[number], standing, row)
    return answers


async def _accepted(session: WriteSession, settings: Settings, ask: Ask, standing: repository.Standing, at: datetime) -> RemedyRow:
    """Return the remedy that is ordered, or the one that was ordered under the same key; raise why it may not be, and have done nothing."""
    body, part_of = ask.body, ask.part_of
    if standing.earlier is not None and (earlier := await repository.one(session, standing.earlier)) is not None:
        if earlier.request_hash != ask.request_hash:
            raise IdempotencyKeyReused("Use a new Idempotency-Key for a different order.")
        return earlier
    action, planned = actions.action_of(body.action), body.params
    if body.action == plans.APPLY:
        planned = await binding.bound_params(session, body.host, body.pci, body.params)
    params = actions.checked_params(action, body.pci, planned)
    if not standing.has_agent:
        raise NoAgent(f"Enrol an agent on {body.host} first: wallwatch agent enrol --host {body.host}")
    if body.incident_id is not None and await incidents.one(session, body.incident_id) is None:
        raise IncidentUnknown(f"There is no incident {body.incident_id}.")
    if standing.in_progress is not None:
        raise _in_progress(standing.in_progress)
    proposed = body.mode == "apply" and part_of is None and (body.propose or actions.needs_approval(action, settings))
    if body.mode == "apply" and not proposed:
        await control.admit(session, settings, body.action, body.host)
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
        requested_by=ask.caller.actor,
        created_at=at,
        updated_at=at,
        operations=[],
        idempotency_key=ask.idempotency_key,
        request_hash=ask.request_hash,
    )
    repository.keep(session, row)
    return row


async def _ordered(
    session: WriteSession, settings: Settings, signer: CommandSigner, ask: Ask, standing: repository.Standing, row: RemedyRow
) -> Remedy:
    """Sign, tell and record an order that was accepted."""
    caller, commands = ask.caller, []
    if row.action == plans.APPLY:
        await binding.ordered(session, row)
    if row.state == "proposed":
        await telling.tell(session, row)
        await changes.announce(session, "remedy", row.id, row.state)
    else:
        by = await command_keys.signer_of(session, signer, command_keys.choose(standing.good_keys, standing.trusted))
        commands = [await _issue(session, settings, by, row, ask.body.mode)]
    audit.record(
        session,
        caller.actor,
        "remedy.propose" if row.state == "proposed" else f"remedy.{row.mode}",
        f"{row.host} {row.pci or ''}".strip(),
        address=caller.address,
        remedy_id=str(row.id),
        remedy_action=row.action,
        params=row.params,
    )
    what = "Dry run of" if row.mode == "dry_run" else "Proposed" if row.state == "proposed" else "Ordered"
    await note_remedy(session, row.incident_id, caller.actor, sentence(f"{what} {row.action} {_params_text(row.params)}"))
    return present.shown(row, commands)


def _params_text(params: dict[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(params.items()))


async def nothing_in_progress(session: WriteSession, host: str, action: str, pci: str | None, but: UUID | None = None) -> None:
    """Raise when another remedy of the action, except `but`, is not over on this host."""
    other = await repository.in_progress(session, host, action, pci, but)
    if other is not None:
        raise _in_progress(other)


def _in_progress(other: UUID) -> RemedyInProgress:
    return RemedyInProgress(f"Remedy {other} still waits for the host's answer, or for approval.")


async def issue(session: WriteSession, settings: Settings, signer: CommandSigner, row: RemedyRow, operation: Operation) -> None:
    """Sign a command and wake whoever holds the agent's connection, with the commit."""
    await _issue(session, settings, await command_keys.signer_for(session, signer, row.host), row, operation)


async def _issue(session: WriteSession, settings: Settings, by: CommandSigner, row: RemedyRow, operation: Operation) -> CommandRow:
    if row.action == plans.APPLY and operation == "apply":
        await binding.still_good(session, row)
    command_id, at = uuid4(), clock.now()
    expires_at = at + timedelta(seconds=settings.command_ttl_s)
    jws = by.sign(
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
        state="pending",
        jws=jws,
        issued_at=at,
        expires_at=expires_at,
    )
    repository.keep(session, command)
    if operation == "apply":
        await telling.tell(session, row)
    await changes.wake_dispatcher(session, row.host)
    await changes.announce(session, "remedy", row.id, row.state)
    return command


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
