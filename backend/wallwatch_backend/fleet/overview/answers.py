"""Answers of `/fleet`, made once per change of the fleet: everybody who has it open gets the same bytes."""

import time
from dataclasses import dataclass

import orjson
from fastapi import Request
from prometheus_client import Counter

from wallwatch_backend.fleet.overview import repository, service
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.json_answers import JsonAnswer
from wallwatch_backend.kit.shared_reads import SharedAnswers

MADE = Counter("wallwatch_fleet_answers_made", "Answers of /fleet that were put together; the others were sent again unchanged")

_KEEP_S = 1.0
"""Symptoms that cleared long ago, and rows that were removed, leave the answer without a change that the marks show."""


@dataclass(frozen=True)
class _Made:
    marks: repository.Marks
    at: float
    answer: JsonAnswer


class FleetAnswers:
    """The last answer of this process. Whether it still holds is asked of the database each time, so that no change is missed."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._shared = SharedAnswers()
        self._last: _Made | None = None

    async def current(self, sampling_interval_s: float) -> JsonAnswer:
        """Return the body of `Fleet`."""
        return await self._shared.get(sampling_interval_s, lambda: self._newest(sampling_interval_s))

    async def _newest(self, sampling_interval_s: float) -> JsonAnswer:
        async with self._database.read() as session:
            marks = await repository.marks(session)
            last = self._last
            if last is not None and last.marks == marks and time.monotonic() - last.at < _KEEP_S:
                return last.answer
            began = time.monotonic()
            plain = orjson.dumps(await service.whole_fleet(session, sampling_interval_s, marks.change_seq))
        MADE.inc()
        self._last = _Made(marks, began, await JsonAnswer.of(plain))
        return self._last.answer


async def answers_of(request: Request) -> FleetAnswers:
    answers: FleetAnswers = request.app.state.fleet_answers
    return answers
