"""Limits of sign-ins, the same on every replica: an attempt takes its place in the database before anything is judged.

- Per account and network, and per network over all accounts: after so many failures in the window, attempts are refused.
- Per account over all networks: attempts are delayed, never refused, so that nobody can lock somebody else out.
- Per process: few passwords are judged at once, fewer for each network, and what would wait too long is refused before it is hashed.

A network is an IPv4 address or an IPv6 /64, which is what one customer or host gets and can change its address within.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_network
from uuid import UUID, uuid4
from weakref import WeakKeyDictionary

from sqlalchemy import delete, func, select, text, update

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.users.models import SignInAttemptRow
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.kit.proxies import parse_address
from wallwatch_backend.settings import Settings

_ABANDONED = timedelta(seconds=60)  # an attempt that was judged by a process that died counts as failed
_WAIT_S, _ASK_EVERY_S = 5.0, 0.1  # for the verdict on others of the same account and network, which decides on this one
_FIRST_DELAY_S, _LONGEST_DELAY_S = 0.5, 4.0
_AT_ONCE, _AT_ONCE_PER_NETWORK = 4, 2
_WAITING, _WAITING_PER_NETWORK = 256, 8
_NOTE_EVERY_S = 60.0


class TooManyAttempts(WallwatchError):
    status, code, title = 429, "too_many_attempts", "Too many failed sign-ins"


@dataclass
class Attempt:
    """A sign-in that is being judged. It counts as failed unless `good` is set before its context ends."""

    id: UUID
    good: bool = False


def network_of(address: str | None) -> str:
    """Return the network that an address counts for.

    >>> network_of("2001:db8:1:2:3::4"), network_of("::ffff:192.0.2.1"), network_of(None)
    ('2001:db8:1:2::/64', '192.0.2.1', 'unknown')
    """
    parsed = parse_address(address) if address is not None else None
    if parsed is None:
        return "unknown"
    return str(ip_network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else str(parsed)


@asynccontextmanager
async def attempt(database: Database, settings: Settings, account: str, address: str | None) -> AsyncIterator[Attempt]:
    """Judge a sign-in, or a second factor, inside this context; set `good` on what it yields if it succeeds.

    Raises
    ------
    TooManyAttempts
        Before anything is judged: after too many failures, or while too many sign-ins wait here. It says when to try again.
    """
    network = network_of(address)
    async with _slots().taken(network):
        this, failures = await _admitted(database, settings, account, network, address)
        try:
            if failures >= settings.sign_in_slow_after:
                doublings = min((failures - settings.sign_in_slow_after) // 5, 10)
                await asyncio.sleep(min(_FIRST_DELAY_S * 2**doublings, _LONGEST_DELAY_S))
            async with _slots().judging(network):
                yield this
        finally:
            await asyncio.shield(_settle(database, this))


async def _admitted(database: Database, settings: Settings, account: str, network: str, address: str | None) -> tuple[Attempt, int]:
    """Wait until the attempt has its place; return it, and the failures of the account from all networks."""
    deadline = time.monotonic() + _WAIT_S
    while True:
        async with database.write() as session:
            counted = await _count(session, settings, account, network, clock.now())
            if counted.free:
                row = SignInAttemptRow(id=uuid4(), at=clock.now(), account=account, network=network, failed=False)
                session.add(row)
                return Attempt(row.id), counted.of_account
        if counted.exhausted or time.monotonic() > deadline:
            await _note(database, account, network, address)
            wait_s = settings.sign_in_window_s if counted.exhausted else 5
            raise TooManyAttempts(
                f"Too many sign-ins failed for this account or from this network. Try again in {wait_s} seconds.",
                headers={"Retry-After": str(wait_s)},
            )
        await asyncio.sleep(_ASK_EVERY_S)


@dataclass(frozen=True)
class _Counted:
    exhausted: bool  # by failures alone
    free: bool  # also with those counted that are being judged
    of_account: int


async def _count(session: WriteSession, settings: Settings, account: str, network: str, at: datetime) -> _Counted:
    """Count the attempts in the window, with the network locked until the commit: the place is taken in the same transaction."""
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), {"key": f"sign-in {network}"})
    row = SignInAttemptRow
    failed = row.failed | (row.at < at - _ABANDONED)
    since = row.at >= at - timedelta(seconds=settings.sign_in_window_s)
    both = row.account == account
    query = select(func.count().filter(failed & both), func.count().filter(both), func.count().filter(failed), func.count()).where(
        since, row.network == network
    )
    pair_failed, pair, network_failed, of_network = (await session.execute(query)).one()
    everywhere = await session.scalar(select(func.count()).where(since, failed, row.account == account))
    per_account, per_network = settings.sign_in_failures_per_account, settings.sign_in_failures_per_address
    return _Counted(
        exhausted=pair_failed >= per_account or network_failed >= per_network,
        free=pair < per_account and of_network < per_network,
        of_account=everywhere or 0,
    )


async def _settle(database: Database, this: Attempt) -> None:
    row = SignInAttemptRow
    async with database.write() as session:
        if this.good:
            await session.execute(delete(row).where(row.id == this.id))
        else:
            await session.execute(update(row).where(row.id == this.id).values(failed=True))


async def delete_old(session: WriteSession, settings: Settings) -> None:
    """Delete what no window reaches any more."""
    row = SignInAttemptRow
    await session.execute(delete(row).where(row.at < clock.now() - timedelta(seconds=settings.sign_in_window_s) - _ABANDONED))


_noted: dict[tuple[str, str], float] = {}


async def _note(database: Database, account: str, network: str, address: str | None) -> None:
    """Record a refusal in the audit log, once a minute for each account and network: a flood must not fill the log."""
    now = time.monotonic()
    for key in [key for key, at in _noted.items() if at < now - _NOTE_EVERY_S]:
        del _noted[key]
    if (account, network) not in _noted and len(_noted) < 10_000:
        _noted[account, network] = now
        await audit.record_apart(database, account, "session.sign_in_limited", account, outcome="refused", address=address)


class _Slots:
    """How many sign-ins wait and are judged in this process, in all and of each network."""

    def __init__(self) -> None:
        self._waiting = 0
        self._waiting_of: defaultdict[str, int] = defaultdict(int)
        self._judged_of: defaultdict[str, int] = defaultdict(int)
        self._judged = 0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def taken(self, network: str) -> AsyncIterator[None]:
        """Take a place, or refuse at once: nobody waits behind a flood."""
        if self._waiting >= _WAITING or self._waiting_of.get(network, 0) >= _WAITING_PER_NETWORK:
            raise TooManyAttempts("Too many sign-ins are being judged. Try again in 2 seconds.", headers={"Retry-After": "2"})
        self._waiting += 1
        self._waiting_of[network] += 1
        try:
            yield
        finally:
            self._waiting -= 1
            self._waiting_of[network] -= 1
            if not self._waiting_of[network]:
                del self._waiting_of[network]

    @asynccontextmanager
    async def judging(self, network: str) -> AsyncIterator[None]:
        """Wait for a slot of the processor, of which each network gets half at most."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._judged < _AT_ONCE and self._judged_of.get(network, 0) < _AT_ONCE_PER_NETWORK)
            self._judged += 1
            self._judged_of[network] += 1
        try:
            yield
        finally:
            async with self._changed:
                self._judged -= 1
                self._judged_of[network] -= 1
                if not self._judged_of[network]:
                    del self._judged_of[network]
                self._changed.notify_all()


_of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Slots] = WeakKeyDictionary()


def _slots() -> _Slots:
    """Return the slots of this event loop, of which a server has one."""
    return _of_loop.setdefault(asyncio.get_running_loop(), _Slots())
