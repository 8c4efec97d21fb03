"""Verifies the audit log's chain of hashes from its beginning, in pages, so that a log of any length fits into memory."""

from dataclasses import dataclass

from wallwatch_backend.accounts.audit import repository
from wallwatch_backend.accounts.audit.chain import Follower
from wallwatch_backend.kit.database import ReadSession

_PAGE = 5_000


@dataclass(frozen=True)
class Anchor:
    """An end of the chain that was stored earlier, outside the database."""

    seq: int
    hash: bytes

    @classmethod
    def parse(cls, text: str) -> "Anchor":
        """Read `SEQ:HASH`, as `verify` prints it; raise ValueError with the reason otherwise.

        >>> Anchor.parse("7:" + "ab" * 32).seq
        7
        """
        seq, _, digest = text.partition(":")
        try:
            anchor = cls(int(seq), bytes.fromhex(digest))
        except ValueError:
            anchor = cls(-1, b"")
        if anchor.seq < 0 or len(anchor.hash) != 32:
            raise ValueError("an anchor is SEQ:HASH, a number and 64 hexadecimal digits, as `wallwatch audit verify` prints them")
        return anchor


@dataclass(frozen=True)
class Verified:
    """The whole chain holds; its end."""

    seq: int
    hash: bytes


@dataclass(frozen=True)
class Broken:
    """The chain does not hold; `held` links before the break do."""

    held: int
    why: str


async def verify(session: ReadSession, anchor: Anchor | None) -> Verified | Broken:
    """Recompute every hash, compare the anchor, and look for rows outside the chain."""
    follower = Follower()
    while links := await repository.links_after(session, follower.seq, _PAGE):
        if broken := follower.follow(links):
            return Broken(follower.seq, f"audit row {broken.event_id} (link {broken.seq}): {broken.why}")
        for link in links:
            if anchor is not None and link.seq == anchor.seq and link.hash != anchor.hash:
                return Broken(link.seq - 1, f"audit row {link.event_id} (link {link.seq}) differs from the anchor: the log was rewritten")
    if anchor is not None and follower.seq < anchor.seq:
        return Broken(follower.seq, f"the log ends at link {follower.seq}; the anchor is link {anchor.seq}: its end was cut off")
    count, first = await repository.without_link(session)
    if count:
        return Broken(follower.seq, f"audit row {first} is in no chain ({count} such rows): it was written with triggers disabled")
    return Verified(follower.seq, follower.hash)
