"""Which persons stand behind an actor: nobody approves what the same person requested under another name.

An order keeps the accounts behind its requester (`accounts_behind`) when it is placed, and asks `is_requester` when somebody decides
on it. Accounts are compared by id, so that neither a new name nor a deleted token makes a second person of the first; names are
compared too, for what has no account, such as a rule of automation or an order of an earlier version.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable
from uuid import UUID

from sqlalchemy import select

from wallwatch_backend.accounts.tokens import repository as tokens
from wallwatch_backend.accounts.tokens.models import TokenRow
from wallwatch_backend.accounts.users.models import UserRow
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession

Resolver = Callable[[ReadSession, str], Awaitable[Iterable[str]]]
"""Gets an actor's name without its prefix; returns the actors behind it."""

_OF_TOKENS = "token:"
_resolvers: dict[str, Resolver] = {_OF_TOKENS: tokens.creators}


def register(prefix: str, resolver: Resolver) -> None:
    """Resolve actors with this prefix, once at start."""
    _resolvers[prefix] = resolver


async def _actors_behind(session: ReadSession, actor: str) -> set[str]:
    """The actor, whoever is behind it, and whoever is behind those."""
    actors: set[str] = set()
    unresolved = [actor]
    while unresolved:
        if (current := unresolved.pop()) in actors:
            continue
        actors.add(current)
        for prefix, resolver in _resolvers.items():
            if current.startswith(prefix):
                unresolved += await resolver(session, current.removeprefix(prefix))
    return actors


async def same_person(session: ReadSession, actor: str, other: str) -> bool:
    """Whether the same person may stand behind two actors, by their names alone; a token counts as its owner and its creators."""
    return bool(await _actors_behind(session, actor) & await _actors_behind(session, other))


async def accounts_behind(session: ReadSession, caller: Caller) -> set[UUID]:
    """Return the accounts of the persons behind a caller; none for the system itself. Keep them with an order when it is placed."""
    if caller.people:
        return set(caller.people)
    if not any(caller.actor.startswith(prefix) for prefix in _resolvers):
        return set((await session.scalars(select(UserRow.id).where(UserRow.username == caller.actor))).all())
    actors = await _actors_behind(session, caller.actor)
    named = set((await session.scalars(select(UserRow.id).where(UserRow.username.in_(actors)))).all())
    token_names = [actor.removeprefix(_OF_TOKENS) for actor in actors if actor.startswith(_OF_TOKENS)]
    for row in await session.scalars(select(TokenRow).where(TokenRow.name.in_(token_names))) if token_names else ():
        named.update(row.creator_ids)
    return named


async def is_requester(session: ReadSession, caller: Caller, requested_by: str, requester_ids: Collection[UUID]) -> bool:
    """Whether a caller may be the person who placed an order, so that somebody else has to decide on it.

    Parameters
    ----------
    session
        Any session of the database.
    caller
        Who wants to approve.
    requested_by
        The actor that the order names.
    requester_ids
        What `accounts_behind` returned when the order was placed.
    """
    if not caller.people.isdisjoint(requester_ids):
        return True
    return await same_person(session, caller.actor, requested_by)
