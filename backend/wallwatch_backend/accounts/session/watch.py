"""Ends long answers, such as event streams, soon after their session or token has ended or its rights have changed.

Every replica asks the database about all of its open answers in two statements, once a second and at once when a change of rights is
announced. So the end needs no announcement: an expiry, an account that is disabled by hand in SQL and a lost notification count too.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import structlog
from fastapi import Request
from prometheus_client import Counter
from sqlalchemy.exc import SQLAlchemyError

from wallwatch_backend.accounts.session import repository
from wallwatch_backend.accounts.tokens import repository as tokens
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import credentials_of
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.hashing import digest
from wallwatch_backend.kit.roles import Role

log = structlog.get_logger(__name__)
ENDED = Counter("wallwatch_long_answers_ended", "Streams that were ended because their session or token ended or its rights changed")

CHECK_EVERY_S = 1.0
"""With the time that the check itself takes, an open answer ends within two seconds."""


@dataclass(eq=False)
class _Open:
    secret_hash: bytes
    is_token: bool
    end: Callable[[], None]
    role: str  # any other role ends the answer, a higher one too: the client opens it again with what it may do now


class AccessWatch:
    """The long answers of this process that are open, and with which credentials."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._open: set[_Open] = set()
        self._woken = asyncio.Event()

    @contextmanager
    def watching(self, request: Request, role: Role, end: Callable[[], None]) -> Iterator[None]:
        """Call `end` as soon as the request's session or token ends, or its role is no longer `role`."""
        cookie, bearer = credentials_of(request)
        answer = _Open(digest(bearer if bearer is not None else cookie or ""), bearer is not None, end, str(role))
        self._open.add(answer)
        self._woken.set()  # the rights may have changed since the request was let in
        try:
            yield
        finally:
            self._open.discard(answer)

    def rights_changed(self) -> None:
        """Check now: somebody's rights have changed, on this replica or another."""
        self._woken.set()

    async def run(self) -> None:
        """Check until cancelled. A check that the database did not answer is made again; meanwhile nothing ends."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), CHECK_EVERY_S)
            self._woken.clear()
            if self._open:
                try:
                    await self._check()
                except (SQLAlchemyError, OSError) as error:
                    log.warning("access_check_failed", error=str(error).splitlines()[0])

    async def _check(self) -> None:
        answers = list(self._open)
        of_sessions = {answer.secret_hash for answer in answers if not answer.is_token}
        of_tokens = {answer.secret_hash for answer in answers if answer.is_token}
        at = clock.now()
        rights: dict[bytes, str] = {}
        async with self._database.read() as session:
            if of_sessions:
                rights |= await repository.roles_of(session, list(of_sessions), at)
            if of_tokens:
                rights |= await tokens.roles_of(session, list(of_tokens), at)
        for answer in answers:
            if rights.get(answer.secret_hash) != answer.role:
                ENDED.inc()
                self._open.discard(answer)
                answer.end()
