"""Password hashes: argon2id, off the event loop because each takes tens of milliseconds and 64 MB on purpose."""

import asyncio
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

_hasher = PasswordHasher()
_at_once = asyncio.Semaphore(4)  # 64 MB each: a flood of sign-ins must not use up the memory


def hash_now(password: str) -> str:
    """Hash a password in this thread (for the command line)."""
    return _hasher.hash(password)


async def hash_password(password: str) -> str:
    async with _at_once:
        return await asyncio.to_thread(_hasher.hash, password)


@cache
def _nobodys_hash() -> str:
    return _hasher.hash("no account has this password")


def _verify(stored: str | None, password: str) -> bool:
    try:
        return _hasher.verify(stored if stored is not None else _nobodys_hash(), password) and stored is not None
    except (Argon2Error, InvalidHashError):
        return False


async def verify_password(stored: str | None, password: str) -> bool:
    """Compare; an unknown account takes as long as a known one, so that names cannot be probed by timing."""
    async with _at_once:
        return await asyncio.to_thread(_verify, stored, password)
