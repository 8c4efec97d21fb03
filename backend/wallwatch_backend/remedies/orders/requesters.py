"""Which persons may stand behind an actor: nobody approves what the same person requested under another name."""

from collections.abc import Awaitable, Callable, Iterable

from wallwatch_backend.accounts.tokens import repository as tokens
from wallwatch_backend.kit.database import ReadSession

Resolver = Callable[[ReadSession, str], Awaitable[Iterable[str]]]
"""Gets an actor's name without its prefix; returns the actors behind it."""

_resolvers: dict[str, Resolver] = {"token:": tokens.creators}


def register(prefix: str, resolver: Resolver) -> None:
    """Resolve actors with this prefix, once at start."""
    _resolvers[prefix] = resolver


async def _people(session: ReadSession, actor: str) -> set[str]:
    """The actor, whoever is behind it, and whoever is behind those."""
    people: set[str] = set()
    unresolved = [actor]
    while unresolved:
        if (current := unresolved.pop()) in people:
            continue
        people.add(current)
        for prefix, resolver in _resolvers.items():
            if current.startswith(prefix):
                unresolved += await resolver(session, current.removeprefix(prefix))
    return people


async def same_person(session: ReadSession, actor: str, other: str) -> bool:
    """Whether the same person may stand behind two actors; a token counts as whoever created it."""
    return bool(await _people(session, actor) & await _people(session, other))
