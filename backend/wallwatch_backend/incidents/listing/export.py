"""Exports of incidents, streamed: their number is unbounded, the server's memory is not."""

import csv
import io
from collections.abc import AsyncIterator
from typing import Any

import orjson
from fastapi.responses import StreamingResponse

from wallwatch_backend.incidents import present
from wallwatch_backend.incidents.listing import repository
from wallwatch_backend.incidents.listing.filters import ExportQuery
from wallwatch_backend.incidents.schemas import IncidentSummary
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.cells import cell
from wallwatch_backend.kit.database import Database

COLUMNS = tuple(IncidentSummary.model_fields)


def response(database: Database, query: ExportQuery) -> StreamingResponse:
    """All incidents that pass the filters, newest first, as a download."""
    name = f"wallwatch-incidents-{clock.now():%Y%m%dT%H%M%SZ}.{query.format}"
    lines, media_type = (_csv, "text/csv") if query.format == "csv" else (_json, "application/json")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(lines(database, query), media_type=media_type, headers=headers)


async def _summaries(database: Database, query: ExportQuery) -> AsyncIterator[list[dict[str, Any]]]:
    # Its own session: the request's session closes before the first byte is sent.
    async with database.read() as session:
        async for rows in repository.in_blocks(session, query):
            yield [present.summary(row).model_dump(mode="json") for row in rows]


async def _json(database: Database, query: ExportQuery) -> AsyncIterator[bytes]:
    before = b"["
    async for block in _summaries(database, query):
        yield before + b",\n".join(orjson.dumps(summary) for summary in block)
        before = b",\n"
    yield b"]\n" if before != b"[" else b"[]\n"


async def _csv(database: Database, query: ExportQuery) -> AsyncIterator[str]:
    yield _lines([COLUMNS])
    async for block in _summaries(database, query):
        yield _lines([[cell(summary[name]) for name in COLUMNS] for summary in block])


def _lines(rows: Any) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
