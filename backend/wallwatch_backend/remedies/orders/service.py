"""Creates, undoes and lists remedies. Orders are checked against the catalogue, signed, and queued for the host's agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import UUID, uuid4

from wallwatch.domain.catalogue import load
from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.session import persons
from wallwatch_backend.hosts.agents import repository as agents
from wallwatch_backend.hosts.command_keys import service as command_keys
from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.incidents.service import note_remedy
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, hash_of, lock_name
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound, WallwatchError
from wallwatch_backend.kit.text import sentence
from wallwatch_backend.remedies.control import repository as admission
from wallwatch_backend.remedies.control import service as control
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import actions, issuing, notifications, present, repository
from wallwatch_backend.remedies.orders.action_hooks import hooks_of
from wallwatch_backend.remedies.orders.errors import IncidentUnknown, NoAgent, NotUndoable
from wallwatch_backend.remedies.orders.schemas import EffectSample, EffectSeries, NewRemedy, Remedy
from wallwatch_backend.remedies.states import REMEDY, RemedyState
from wallwatch_backend.settings import Settings

Answer = Remedy | WallwatchError | None
"""The remedy, why it was refused, or None for an order that needs a transaction of its own."""


@dataclass(frozen=True)
class Order:
    """A request for a remedy. `part_of` is a rollout and its wave: whoever approved that has approved each of its orders."""

    caller: Caller
    body: NewRemedy
    idempotency_key: str | None
    part_of: tuple[UUID, int] | None = None

    @cached_property
    def request_hash(self) -> str:
        return hash_of(self.body.model_dump(mode="json"))

    @property
    def applies(self) -> bool:
        return self.body.mode == "apply"

    @property
    def place(self) -> repository.Place:
        body = self.body
        pci = body.pci if actions.action_of(body.action).scope == "rnic" else None
        return repository.Place(body.host, body.action, pci, self.caller.actor, self.idempotency_key)

    @property
    def key_lock(self) -> list[str]:
        return [] if self.idempotency_key is None else [lock_name(self.caller, self.idempotency_key)]

    @property
    def place_lock(self) -> str:
        return repository.place_lock(self.body.host, self.body.action)

    @property
    def locks(self) -> list[str]:
        return [*self.key_lock, self.place_lock]

    @property
    def batchable(self) -> bool:
        """Whether it may share a transaction: a row of an incident stays locked, and some actions can be refused late."""
        return self.body.incident_id is None and hooks_of(self.body.action).batchable


async def create(
    session: WriteSession,
    settings: Settings,
    signer: CommandSigner,
    caller: Caller,
    body: NewRemedy,
    idempotency_key: str | None,
    part_of: tuple[UUID, int] | None = None,
) -> Remedy:
    """Create a remedy, waiting for whatever locks its place. With an Idempotency-Key that was used before, return that remedy instead."""
    actions.action_of(body.action)  # or it raises UnknownAction
    order = Order(caller, body, idempotency_key, part_of)
    await _wait_for_locks(session, order)
    [answer] = await _create_locked(session, settings, signer, [order])
    if isinstance(answer, WallwatchError):
        raise answer
    return answer


async def create_together(session: WriteSession, settings: Settings, signer: CommandSigner, orders: Sequence[Order]) -> list[Answer]:
    """Create the remedies of many orders in one transaction.

    It waits for no lock, so that no order waits for a stranger's and no two transactions wait for each other. None is the answer to an
    order that would have to wait, that is for the place of an earlier order, or that is not `batchable`.
    """
    answers: list[Answer] = [None] * len(orders)
    for number, order in enumerate(orders):
        if order.body.action not in load.remedies():
            answers[number] = actions.unknown(order.body.action)
    known = [number for number, answer in enumerate(answers) if answer is None]
    locked = await _lock_without_waiting(session, {number: orders[number] for number in known})
    created = await _create_locked(session, settings, signer, [orders[number] for number in locked])
    for number, answer in zip(locked, created, strict=True):
        answers[number] = answer
    return answers


async def _wait_for_locks(session: WriteSession, order: Order) -> None:
    await repository.lock_keys(session, order.key_lock)
    if order.applies:
        await admission.lock(session)  # before the place's, as an approval does
    await repository.lock_keys(session, [order.place_lock])


async def _lock_without_waiting(session: WriteSession, orders: dict[int, Order]) -> list[int]:
    """Lock what is free; return the numbers of the orders that have all of their locks."""
    may_apply = any(order.applies for order in orders.values()) and await admission.locked_at_once(session)
    seen, chosen = set[str](), list[int]()
    for number, order in orders.items():
        if order.batchable and (may_apply or not order.applies) and seen.isdisjoint(order.locks):
            seen.update(order.locks)
            chosen.append(number)
    free = await repository.locked_at_once(session, [orders[number].locks for number in chosen]) if chosen else []
    return [number for number, is_free in zip(chosen, free, strict=True) if is_free]


async def _create_locked(
    session: WriteSession, settings: Settings, signer: CommandSigner, orders: Sequence[Order]
) -> list[Remedy | WallwatchError]:
    """Create the remedies of orders whose locks this transaction has; an order that is refused leaves the others as they are."""
    if not orders:
        return []
    at = clock.now()
    standings = await repository.standings(session, [order.place for order in orders], at)
    accepted: list[RemedyRow | WallwatchError] = []
    for order, standing in zip(orders, standings, strict=True):
        try:
            accepted.append(await _accept(session, settings, order, standing, at))
        except WallwatchError as refused:
            accepted.append(refused)
    await session.flush()
    answers: list[Remedy | WallwatchError] = []
    for order, standing, row in zip(orders, standings, accepted, strict=True):
        if isinstance(row, WallwatchError):
            answers.append(row)
        elif row.id == standing.earlier:
            answers.append(await present.remedy(session, row))
        else:
            answers.append(await _start(session, settings, signer, order, standing, row))
    return answers


async def _accept(session: WriteSession, settings: Settings, order: Order, standing: repository.Standing, at: datetime) -> RemedyRow:
    """Return the new remedy, or the one that was created under the same key; raise why it cannot be, and have changed nothing."""
    body, part_of = order.body, order.part_of
    if standing.earlier is not None and (earlier := await repository.one(session, standing.earlier)) is not None:
        if earlier.request_hash != order.request_hash:
            raise IdempotencyKeyReused("Use a new Idempotency-Key for a different order.")
        return earlier
    action = actions.action_of(body.action)
    bound = await hooks_of(body.action).bound_params(session, body.host, body.pci, body.params)
    params = actions.checked_params(action, body.pci, bound)
    if not standing.has_agent:
        raise NoAgent(f"Enrol an agent on {body.host} first: wallwatch agent enrol --host {body.host}")
    if body.incident_id is not None and await incidents.get(session, body.incident_id) is None:
        raise IncidentUnknown(f"There is no incident {body.incident_id}.")
    if standing.in_progress is not None:
        raise issuing.in_progress(standing.in_progress)
    needs_approval = order.applies and part_of is None and (body.propose or actions.needs_approval(action, settings))
    if order.applies and not needs_approval:
        await control.admit(session, settings, body.action, body.host)
    row = RemedyRow(
        id=uuid4(),
        action=body.action,
        host=body.host,
        pci=body.pci,
        params=params,
        mode=body.mode,
        state=RemedyState.pending if needs_approval else RemedyState.approved,
        incident_id=body.incident_id,
        rollout_id=part_of[0] if part_of is not None else None,
        rollout_wave=part_of[1] if part_of is not None else None,
        requested_by=order.caller.actor,
        requester_ids=sorted(await persons.accounts_behind(session, order.caller)),
        created_at=at,
        updated_at=at,
        operations=[],
        idempotency_key=order.idempotency_key,
        request_hash=order.request_hash,
    )
    repository.keep(session, row)
    return row


async def _start(
    session: WriteSession, settings: Settings, signer: CommandSigner, order: Order, standing: repository.Standing, row: RemedyRow
) -> Remedy:
    """Sign and record an order that was accepted, and notify of it."""
    caller, commands, pending = order.caller, [], row.state == RemedyState.pending
    await hooks_of(row.action).on_ordered(session, row)
    if pending:
        await notifications.notify(session, row)
        await changes.announce(session, "remedy", row.id, row.state)
    else:
        chosen = await command_keys.signer_of(session, signer, command_keys.choose(standing.good_keys, standing.trusted))
        commands = [await issuing.issue_signed_by(session, settings, chosen, row, order.body.mode)]
    audit.record(
        session,
        caller.actor,
        "remedy.propose" if pending else f"remedy.{row.mode}",
        f"{row.host} {row.pci or ''}".strip(),
        address=caller.address,
        remedy_id=str(row.id),
        remedy_action=row.action,
        params=row.params,
    )
    request = "Requested a dry run of" if row.mode == "dry_run" else "Proposed" if pending else "Requested"
    params = ", ".join(f"{name} = {value}" for name, value in sorted(row.params.items()))
    await note_remedy(session, row.incident_id, caller.actor, sentence(f"{request} {row.action} {params}"))
    return present.assembled(row, commands)


async def undo(session: WriteSession, settings: Settings, signer: CommandSigner, caller: Caller, remedy_id: UUID) -> Remedy:
    row = await repository.one_locked(session, remedy_id)
    if row is None:
        raise NotFound(f"There is no remedy {remedy_id}.")
    if not present.undoable(row, await repository.commands(session, [row.id])):
        standing = f"The remedy {REMEDY[row.state].sentence}"
        raise NotUndoable(f"{standing}; only one that was applied, is reversible, and has no undo under way can be undone.")
    if await agents.by_host(session, row.host) is None:
        raise NoAgent(f"The agent of {row.host} was removed; enrol it again first.")
    await repository.lock_key(session, repository.place_lock(row.host, row.action))
    scope = actions.action_of(row.action).scope
    await issuing.check_nothing_in_progress(session, row.host, row.action, row.pci if scope == "rnic" else None)
    row.updated_at = clock.now()
    await issuing.issue(session, settings, signer, row, "undo")
    audit.record(
        session,
        caller.actor,
        "remedy.undo",
        f"{row.host} {row.pci or ''}".strip(),
        address=caller.address,
        remedy_id=str(row.id),
        remedy_action=row.action,
    )
    await note_remedy(session, row.incident_id, caller.actor, f"Requested an undo of {row.action}.")
    return await present.remedy(session, row)


async def get(session: ReadSession, remedy_id: UUID) -> Remedy:
    row = await repository.one(session, remedy_id)
    if row is None:
        raise NotFound(f"There is no remedy {remedy_id}.")
    return await present.remedy(session, row)


async def effect_series(session: ReadSession, remedy_id: UUID) -> EffectSeries:
    """Return the kept samples of a remedy's effect.

    Raises
    ------
    NotFound
        When there is no such remedy, or no signal shows its effect.
    """
    row = await repository.one(session, remedy_id)
    if row is None or row.effect is None or row.applied_at is None:
        raise NotFound(f"There is no remedy {remedy_id} whose effect a signal shows.")
    check = actions.action_of(row.action).cures.get(row.effect["symptom"] or "")
    kept = await repository.effect_samples(session, remedy_id)
    return EffectSeries(
        **{name: row.effect[name] for name in ("symptom", "signal", "label", "unit", "expected")},
        bound=check.limit(row.params) if check is not None else None,
        applied_at=row.applied_at,
        samples=[EffectSample(at=at, value=value) for at, value in kept],
    )


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
    items = await present.remedies(session, rows[:limit])
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)
