"""Answers of `/fleet`, made once per change of the fleet: everybody who has it open gets the same bytes."""

import asyncio
import gzip
import time
from dataclasses import dataclass

import orjson
from fastapi import Request, Response
from prometheus_client import Counter

from wallwatch_backend.fleet.overview import repository, service
from wallwatch_backend.kit.database import ReadSession

MADE = Counter("wallwatch_fleet_answers_made", "Answers of /fleet that were put together; the others were sent again unchanged")

_KEEP_S = 1.0
"""Symptoms that cleared long ago, and rows that were removed, leave the answer without a change that the marks show."""


@dataclass(frozen=True)
class _Answer:
    marks: repository.Marks
    made_at: float
    plain: bytes
    zipped: bytes


class FleetAnswers:
    """The last answer of this process. Whether it still holds is asked of the database each time, so that no change is missed."""

    def __init__(self) -> None:
        self._making = asyncio.Lock()
        self._last: _Answer | None = None

    async def current(self, session: ReadSession, sampling_interval_s: float, *, zipped: bool) -> bytes:
        """Return the body of `Fleet` as JSON, or that compressed."""
        marks = await repository.marks(session)
        answer = self._valid(marks)
        if answer is None:
            async with self._making:  # those who wait here mostly find that another has made it
                marks = await repository.marks(session)
                answer = self._valid(marks) or await self._make(session, sampling_interval_s, marks)
        return answer.zipped if zipped else answer.plain

    def _valid(self, marks: repository.Marks) -> _Answer | None:
        last = self._last
        return last if last is not None and last.marks == marks and time.monotonic() - last.made_at < _KEEP_S else None

    async def _make(self, session: ReadSession, sampling_interval_s: float, marks: repository.Marks) -> _Answer:
        began = time.monotonic()
        plain = orjson.dumps(await service.whole_fleet(session, sampling_interval_s, marks.change_seq))
        # 4 MB for 40,000 RNICs in about 20 ms; other requests go on meanwhile.
        zipped = await asyncio.to_thread(gzip.compress, plain, compresslevel=1, mtime=0)
        MADE.inc()
        self._last = _Answer(marks, began, plain, zipped)
        return self._last


async def answers_of(request: Request) -> FleetAnswers:
    answers: FleetAnswers = request.app.state.fleet_answers
    return answers


def accepts_gzip(request: Request) -> bool:
    """Whether a client reads compressed answers, by the same test as the middleware that compresses the others."""
    return "gzip" in request.headers.get("Accept-Encoding", "")


def response(body: bytes, *, zipped: bool) -> Response:
    """Wrap a body of `current`."""
    headers = {"Vary": "Accept-Encoding"} | ({"Content-Encoding": "gzip"} if zipped else {})
    return Response(body, media_type="application/json", headers=headers)
