"""Idempotency-Key: a repeated request with the same key gets the first answer, and nothing is done twice."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel
from sqlalchemy import PrimaryKeyConstraint, delete, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.columns import Created
from wallwatch_backend.kit.database import Base, WriteSession
from wallwatch_backend.kit.problems import WallwatchError

Answer = TypeVar("Answer", bound=BaseModel)


class IdempotencyKeyReused(WallwatchError):
    status, code, title = 409, "idempotency_key_reused", "This Idempotency-Key was used for a different request"


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=r"^[\x21-\x7e]{1,200}$",
        description="A repeated request with the same key gets the first answer again; nothing is done twice",
    ),
]


class AnswerRow(Base):
    """The answer to a request with a key."""

    __tablename__ = "idempotent_answer"
    __table_args__ = (PrimaryKeyConstraint("caller", "key"),)

    caller: Mapped[str]
    key: Mapped[str]
    request_hash: Mapped[str]
    body: Mapped[Any] = mapped_column(JSONB)
    created_at: Mapped[Created] = mapped_column(index=True)


def hash_of(*parts: Any) -> str:
    """Fingerprint of a request: JSON values of any size.

    >>> hash_of({"a": 1, "b": 2**70}) == hash_of({"b": 2**70, "a": 1}) != hash_of({"a": 1, "b": 2**71})
    True
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def lock_name(caller: Caller, key: str) -> str:
    """Name of the lock that lets one request per caller and key run at a time."""
    return f"key|{caller.actor}|{key}"


async def lock(session: WriteSession, caller: Caller, key: str) -> None:
    """Let one request per caller and key run at a time."""
    name = {"key": lock_name(caller, key)}
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 7241003))"), name)


class Once:
    """Does a request's work once. A dependency: `once: TheOnce`, then `await once(session, caller, body, Answer, work)`."""

    def __init__(self, request: Request, response: Response, key: IdempotencyKey = None) -> None:
        self._what, self._response, self._key = f"{request.method} {request.url.path}", response, key

    async def __call__(
        self, session: WriteSession, caller: Caller, body: BaseModel | None, kind: type[Answer], work: Callable[[], Awaitable[Answer]]
    ) -> Answer:
        """Return the stored answer of the key, or do the work and store its answer in the same transaction."""
        if self._key is None:
            return await work()
        request_hash = hash_of(self._what, body.model_dump(mode="json", exclude_unset=True) if body is not None else None)
        await lock(session, caller, self._key)
        kept = await session.get(AnswerRow, (caller.actor, self._key))
        if kept is not None:
            if kept.request_hash != request_hash:
                raise IdempotencyKeyReused("Use a new Idempotency-Key for a different request.")
            self._response.headers["Idempotency-Replayed"] = "true"
            return kind.model_validate(kept.body)
        answer = await work()
        session.add(
            AnswerRow(caller=caller.actor, key=self._key, request_hash=request_hash, body=answer.model_dump(mode="json", by_alias=True))
        )
        return answer


TheOnce = Annotated[Once, Depends()]


async def forget_before(session: WriteSession, at: datetime) -> None:
    """Delete expired answers."""
    await session.execute(delete(AnswerRow).where(AnswerRow.created_at < at))
