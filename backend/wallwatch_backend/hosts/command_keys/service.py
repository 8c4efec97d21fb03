"""Chooses the key that signs for a host, and rotates keys
(docs/decisions/0009-command-keys-introduce-their-successors.md)."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.hosts.command_keys import repository
from wallwatch_backend.hosts.command_keys.models import CommandKeyRow
from wallwatch_backend.hosts.command_keys.schemas import CommandKey, CommandKeyInfo, CommandKeys
from wallwatch_backend.hosts.command_keys.signing import CommandSigner, rfc3339
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import ReadSession, WriteSession

INTRODUCED_FOR = timedelta(days=365)
"""How long an agent may be disconnected and still trust the introduction; after that it must enrol again."""
_MOST_HOSTS = 100


def _valid(rows: Sequence[CommandKeyRow], at: datetime) -> list[CommandKeyRow]:
    return [row for row in rows if row.not_after is None or row.not_after > at]


def _open(first: CommandSigner, row: CommandKeyRow) -> CommandSigner:
    """The signer of a key."""
    return first if row.kid == first.kid or row.private_key is None else first.successor(row.private_key)


def choose(valid: Sequence[str], trusted: Collection[str] | None) -> str | None:
    """Return which of the valid keys, oldest first, signs for an agent: the newest that it trusts.

    None before the first rotation.

    An agent that has not reported the keys that it trusts knows those of its enrolment, so the oldest signs. For one
    that trusts none of the valid keys the newest signs: the agent refuses, and reports that it must enrol again.

    >>> choose(["a", "b", "c"], ["a", "b"]), choose(["a", "b"], None), choose(["a", "b"], []), choose([], None)
    ('b', 'a', 'b', None)
    """
    if not valid:
        return None
    trusted_kids = [kid for kid in valid if kid in trusted] if trusted is not None else valid[:1]
    return trusted_kids[-1] if trusted_kids else valid[-1]


async def signer_of(session: ReadSession, first: CommandSigner, kid: str | None) -> CommandSigner:
    """Return the signer of a key that `choose` returned; each is decrypted once per process."""
    if kid is None or kid == first.kid:
        return first
    if (opened := first.opened.get(kid)) is None:
        [row] = [row for row in await repository.keys(session) if row.kid == kid]
        opened = first.opened[kid] = _open(first, row)
    return opened


async def signer_for(session: ReadSession, first: CommandSigner, host: str) -> CommandSigner:
    """Return the signer for a host's agent."""
    valid = [row.kid for row in _valid(await repository.keys(session), clock.now())]
    return await signer_of(session, first, choose(valid, await repository.trusted_by(session, host)) if valid else None)


async def pinned_at_enrolment(session: ReadSession, first: CommandSigner) -> list[CommandKey]:
    """Return the keys that a new agent pins."""
    rows = _valid(await repository.keys(session), clock.now())
    return [
        CommandKey(kid=row.kid, public_key=row.public_key, not_after=rfc3339(row.not_after) if row.not_after else None) for row in rows
    ] or [CommandKey(kid=first.kid, public_key=first.public_key)]


async def missed_by(session: ReadSession, trusted: Collection[str]) -> list[tuple[str, str]]:
    """Return the introductions (id, message) of the keys after the newest that an agent trusts, oldest first.

    There are none if it trusts none of the keys.
    """
    rows = await repository.keys(session)
    newest = max((index for index, row in enumerate(rows) if row.kid in trusted), default=len(rows))
    return [(row.kid, row.introduction) for row in rows[newest + 1 :] if row.introduction is not None]


async def rotate(session: WriteSession, first: CommandSigner, actor: str, address: str | None, overlap_s: int) -> CommandSigner:
    """Create a new key, introduced by the current one, which retires after the overlap."""
    await repository.lock(session)
    at = clock.now()
    rows = list(await repository.keys(session))
    if not rows:
        row = CommandKeyRow(kid=first.kid, public_key=first.public_key, created_at=at, created_by="server")
        await repository.add(session, row)
        rows = [row]
    before = rows[-1]
    end = at + timedelta(seconds=overlap_s)
    signer, private = first.new_successor()
    introduction = _open(first, before).introduce(signer, issued_at=at, expires_at=at + INTRODUCED_FOR, retires={before.kid: end})
    before.not_after = end
    await repository.add(
        session,
        CommandKeyRow(
            kid=signer.kid, public_key=signer.public_key, private_key=private, introduction=introduction, created_at=at, created_by=actor
        ),
    )
    audit.record(
        session, actor, "command_key.rotate", signer.kid, address=address, before=before.kid, overlap_s=overlap_s, not_after=rfc3339(end)
    )
    await changes.announce(session, "command_key", signer.kid, "introduced")
    return signer


async def clean_up(session: WriteSession) -> None:
    """Delete the private halves of retired keys."""
    for kid in await repository.delete_private_keys(session, clock.now()):
        audit.record(session, "system", "command_key.retire", kid)


async def list_keys(session: ReadSession, first: CommandSigner) -> CommandKeys:
    at = clock.now()
    counts = await repository.agents_by_kid(session)
    items = [
        CommandKeyInfo(
            kid=row.kid,
            public_key=row.public_key,
            state="current" if row.not_after is None else "overlapping" if row.not_after > at else "retired",
            created_at=row.created_at,
            created_by=row.created_by,
            not_after=row.not_after,
            agents=counts.get(row.kid, 0),
        )
        for row in reversed(await repository.keys(session))
    ] or [
        CommandKeyInfo(
            kid=first.kid,
            public_key=first.public_key,
            state="current",
            created_at=None,
            created_by=None,
            not_after=None,
            agents=counts.get(first.kid, 0),
        )
    ]
    behind = await repository.hosts_without(session, items[0].kid)
    return CommandKeys(items=items, behind=list(behind[:_MOST_HOSTS]), behind_total=len(behind))
