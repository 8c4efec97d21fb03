"""Analyses uploaded captures one after another, each in a process of its own with limits."""

import asyncio
import os
import sys
from collections import deque
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
import structlog
from prometheus_client import Counter

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.captures import repository
from wallwatch_backend.captures.files import CaptureFiles
from wallwatch_backend.captures.states import CaptureState
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
ANALYSES = Counter("wallwatch_capture_analyses", "Captures whose analysis ended", ["outcome"])

MODULE = "wallwatch_backend.captures.analysis_process"
SYSTEM = "wallwatch"
BEAT_EVERY_S = 10.0
SILENT_AFTER = timedelta(seconds=120)
_MOST_OUTPUT = 256 << 20
"""Bytes of the process' output: a result with its series has a few megabytes."""


class CaptureAnalyser:
    """Runs on every replica: each analyses what it received."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database, self._settings = database, settings
        self.files = CaptureFiles(settings.captures_dir)
        self._waiting: deque[UUID] = deque()
        self._current: UUID | None = None
        self._woken = asyncio.Event()
        self.uploading = 0

    @property
    def busy(self) -> int:
        """Captures that are uploaded, wait, or are analysed here."""
        return self.uploading + len(self._waiting) + (self._current is not None)

    def enqueue(self, capture_id: UUID) -> None:
        self._waiting.append(capture_id)
        self._woken.set()

    async def run(self) -> None:
        """Analyse until cancelled."""
        await asyncio.to_thread(self.files.remove_abandoned)
        beats = asyncio.create_task(self._beat())
        try:
            while True:
                await self._woken.wait()
                self._woken.clear()
                while self._waiting:
                    self._current = self._waiting.popleft()
                    try:
                        await self._analyse(self._current)
                    finally:
                        await asyncio.to_thread(self.files.remove, self._current)
                        self._current = None
        finally:
            beats.cancel()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_EVERY_S)
            ids = [*self._waiting, *([self._current] if self._current else [])]
            async with self._database.write() as session:
                await repository.beat(session, ids, clock.now())

    async def _analyse(self, capture_id: UUID) -> None:
        async with self._database.write() as session:
            row = await repository.one(session, capture_id)
            if row is None:
                return  # deleted meanwhile
            options, name = row.options, row.name
            await repository.change(session, capture_id, state=CaptureState.analysing, heartbeat_at=clock.now())
        try:
            answer = await self._in_process(capture_id, options)
        except asyncio.CancelledError:
            await self._end(capture_id, name, {"problem": "the server stopped during the analysis: upload the file again"})
            raise
        await self._end(capture_id, name, answer)

    async def _in_process(self, capture_id: UUID, options: dict[str, Any]) -> dict[str, Any]:
        """The last line that the process wrote, or the problem that ended it."""
        settings = self._settings
        limits = {"memory_bytes": settings.capture_memory_mb << 20, "cpu_s": settings.capture_cpu_s}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", MODULE, str(self.files.path(capture_id)),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            limit=_MOST_OUTPUT, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - both are pipes
        try:
            process.stdin.write(orjson.dumps({"options": options, "limits": limits}))
            process.stdin.close()
            async with asyncio.timeout(settings.capture_cpu_s * 3):
                answer = await self._follow(capture_id, process.stdout)
                await process.wait()
        except TimeoutError:
            return {
                "problem": f"the analysis did not finish within {settings.capture_cpu_s * 3} s and was stopped: cut the capture into pieces"
            }
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return answer or {"problem": _ending(process.returncode, settings)}

    async def _follow(self, capture_id: UUID, output: asyncio.StreamReader) -> dict[str, Any] | None:
        answer: dict[str, Any] | None = None
        while line := await output.readline():
            message: dict[str, Any] = await asyncio.to_thread(orjson.loads, line)
            if "progress" not in message:
                answer = message
                continue
            async with self._database.write() as session:
                await repository.change(session, capture_id, progress=message["progress"], heartbeat_at=clock.now())
        return answer

    async def _end(self, capture_id: UUID, name: str, answer: dict[str, Any]) -> None:
        problem: str | None = answer.get("problem")
        state = CaptureState.failed if problem else CaptureState.done
        values: dict[str, Any] = {"state": state, "ended_at": clock.now(), "problem": problem}
        if not problem:
            values |= {"progress": 1.0, "summary": answer["summary"], "result": answer["result"]}
        async with self._database.write() as session:
            if not await repository.change(session, capture_id, **values):
                return
            await repository.add_series(session, capture_id, [(label, body) for label, body in answer.get("series", ())])
            audit.record(
                session,
                SYSTEM,
                f"capture.{state}",
                name,
                outcome="failed" if problem else "ok",
                capture_id=str(capture_id),
                message=problem,
            )
        ANALYSES.labels(state).inc()
        log.info("capture_analysed", capture=str(capture_id), state=state, problem=problem)


def _ending(code: int | None, settings: Settings) -> str:
    if code in (-24, 152):  # SIGXCPU
        return f"the analysis needs more than {settings.capture_cpu_s} s of CPU: cut the capture into pieces"
    return f"the analysis ended without a result (code {code}): it may have run out of memory, so cut the capture into pieces"
