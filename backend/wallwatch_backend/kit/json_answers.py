"""JSON that several requests get unchanged: put together and compressed once."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel

from wallwatch_backend.kit.database import Database, ReadSession
from wallwatch_backend.kit.shared_reads import SharedAnswers

WORTH_ZIPPING = 1_000
"""Bytes; the middleware that compresses all other answers leaves smaller ones alone, too."""

WORTH_A_THREAD = 250_000
"""Bytes, compressed in a millisecond or two: with many requests under way, waiting for a thread and for one's turn takes longer."""


@dataclass(frozen=True)
class JsonAnswer:
    """A body, and the same compressed; empty if that is not worth it."""

    plain: bytes
    zipped: bytes = b""

    @classmethod
    async def of(cls, plain: bytes) -> "JsonAnswer":
        if len(plain) < WORTH_ZIPPING:
            return cls(plain)
        if len(plain) < WORTH_A_THREAD:
            return cls(plain, gzip.compress(plain, compresslevel=1, mtime=0))
        # 4 MB for 40,000 RNICs in about 20 ms; other requests go on meanwhile.
        return cls(plain, await asyncio.to_thread(gzip.compress, plain, compresslevel=1, mtime=0))

    def response(self, request: Request) -> Response:
        """Wrap the body in the form that the client of a request reads."""
        # By the same test as the middleware that compresses the others.
        zipped = bool(self.zipped) and "gzip" in request.headers.get("Accept-Encoding", "")
        headers = {"Vary": "Accept-Encoding"} | ({"Content-Encoding": "gzip"} if zipped else {})
        return Response(self.zipped if zipped else self.plain, media_type="application/json", headers=headers)


class SharedJson:
    """Answers of read-only endpoints: equal requests of the same moment share one query and one body."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._answers = SharedAnswers()

    async def response(
        self, request: Request, operation: str, query: BaseModel, read: Callable[[ReadSession], Awaitable[BaseModel]]
    ) -> Response:
        """Answer with what `read` returns.

        The answer must depend on nothing but `operation` and `query`: other callers get it, too.
        """

        async def answer() -> JsonAnswer:
            async with self._database.read() as session:
                return await JsonAnswer.of((await read(session)).model_dump_json().encode())

        return (await self._answers.get((operation, query.model_dump_json()), answer)).response(request)


async def _shared_json(request: Request) -> SharedJson:
    shared: SharedJson = request.app.state.shared_json
    return shared


TheSharedJson = Annotated[SharedJson, Depends(_shared_json)]
