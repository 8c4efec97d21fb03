"""The chain of hashes over the audit log: what is hashed, and where a chain breaks. Pure; the database creates links by the same rule.

    hash(n) = SHA-256(hash(n - 1) || UTF-8(fields)), hash(0) = 32 zero bytes

The fields are the link's number, then the row's id, time (microseconds since 1970, UTC), actor, action, target, outcome, address and detail
(PostgreSQL's text of the jsonb), each as `<bytes>:<text>`, null as `-`. Home of the rule in SQL: migration 0003, `audit_hash`.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

GENESIS = bytes(32)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Event:
    """One row of the log; `detail` is PostgreSQL's text of it."""

    id: int
    at: datetime
    actor: str
    action: str
    target: str
    outcome: str
    address: str | None
    detail: str


@dataclass(frozen=True)
class Link:
    """One link of the chain, and the row that it is for; None when the row is gone."""

    seq: int
    event_id: int
    previous: bytes
    hash: bytes
    event: Event | None


@dataclass(frozen=True)
class Break:
    """The first place where the chain does not hold."""

    seq: int
    event_id: int
    why: str


def _field(value: str | None) -> str:
    return "-" if value is None else f"{len(value.encode())}:{value}"


def hash_of(previous: bytes, seq: int, event: Event) -> bytes:
    """Return the hash of a row behind another.

    >>> event = Event(1, datetime(2026, 1, 1, tzinfo=UTC), "cli", "token.create", "ci", "ok", None, "{}")
    >>> hash_of(GENESIS, 1, event).hex()[:16]
    '88d797dcf488d044'
    """
    micros = (event.at - _EPOCH) // timedelta(microseconds=1)
    values = (str(seq), str(event.id), str(micros), event.actor, event.action, event.target, event.outcome, event.address, event.detail)
    return hashlib.sha256(previous + "".join(_field(value) for value in values).encode()).digest()


class Follower:
    """Follows a chain from its beginning, link by link, and stops at the first that does not hold."""

    def __init__(self) -> None:
        self.seq, self.hash = 0, GENESIS

    def follow(self, links: Iterable[Link]) -> Break | None:
        """Take the next links; return the first break."""
        for link in links:
            if why := self._why_broken(link):
                return Break(link.seq, link.event_id, why)
            self.seq, self.hash = link.seq, link.hash
        return None

    def _why_broken(self, link: Link) -> str | None:
        if link.seq != self.seq + 1:
            return f"{link.seq - self.seq - 1} links before it are missing"
        if link.event is None:
            return "its row was removed"
        if link.previous != self.hash:
            return "it does not follow the link before it: one of the two was exchanged"
        if link.hash != hash_of(self.hash, link.seq, link.event):
            return "its row is not what was written"
        return None
