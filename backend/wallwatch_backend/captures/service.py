"""Uploads, answers and deletions of captures."""

from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID, uuid4

from wallwatch.domain.catalogue.transport import transport_figures
from wallwatch.domain.catalogue.transport_verdicts import latency_verdicts
from wallwatch.domain.transport.options import OptionError, analysis_options
from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.captures import present, repository
from wallwatch_backend.captures.analyser import SILENT_AFTER, CaptureAnalyser
from wallwatch_backend.captures.errors import CaptureOptionInvalid, CaptureTooLarge, ModelUnknown, NotAnalysed, TooManyUploads
from wallwatch_backend.captures.models import CaptureRow
from wallwatch_backend.captures.schemas import (
    Capture,
    CaptureAttached,
    CaptureAttachment,
    CaptureDetail,
    CaptureOptions,
    CaptureSeries,
    CaptureSummary,
    CaptureVerdicts,
    QueuePairVerdict,
    TransportModels,
)
from wallwatch_backend.captures.states import CaptureState
from wallwatch_backend.incidents import service as incidents
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import Database, ReadSession, WriteSession
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.settings import Settings

_GONE = "the server that received the file stopped before it was analysed: upload the file again"


def kept_for(settings: Settings) -> timedelta:
    return timedelta(days=settings.capture_retention_days)


async def upload(
    database: Database, settings: Settings, analyser: CaptureAnalyser, caller: Caller, name: str, options: CaptureOptions,
    chunks: AsyncIterator[bytes], announced_bytes: int | None,
) -> Capture:  # fmt: skip
    """Store a file as it arrives and queue its analysis."""
    try:
        analysis_options(**options.model_dump())
    except OptionError as error:
        raise CaptureOptionInvalid(f"{error}.") from error
    if announced_bytes is not None and announced_bytes > settings.capture_max_bytes:
        raise CaptureTooLarge(f"At most {settings.capture_max_bytes >> 20} MB are accepted: compress the capture, or cut it into pieces.")
    if analyser.busy >= settings.capture_queue:
        raise TooManyUploads(
            f"{analyser.busy} captures are being uploaded or analysed: try again in a minute.", headers={"Retry-After": "60"}
        )
    capture_id = uuid4()
    analyser.uploading += 1
    try:
        stored = await analyser.files.store(capture_id, chunks, settings.capture_max_bytes)
        at = clock.now()
        row = CaptureRow(
            id=capture_id, name=name, size_bytes=stored.size_bytes, sha256=stored.sha256, options=options.model_dump(),
            state=CaptureState.queued, progress=0.0, problem=None, uploaded_by=caller.actor, created_at=at, ended_at=None, heartbeat_at=at,
            summary=None, result=None,
        )  # fmt: skip
        try:
            async with database.write() as session:
                await repository.add(session, row)
                audit.record(
                    session, caller.actor, "capture.upload", name, address=caller.address, capture_id=str(capture_id),
                    size_bytes=stored.size_bytes, sha256=stored.sha256,
                )  # fmt: skip
        except BaseException:
            analyser.files.remove(capture_id)
            raise
        analyser.enqueue(capture_id)
    finally:
        analyser.uploading -= 1
    return present.capture(row, kept_for(settings))


async def require(session: ReadSession, capture_id: UUID, *, whole: bool = False) -> CaptureRow:
    row = await repository.one(session, capture_id, whole=whole)
    if row is None:
        raise NotFound(f"There is no capture {capture_id}; it may have expired.")
    return row


async def list_captures(session: ReadSession, settings: Settings, *, limit: int, cursor: str | None) -> Page[Capture]:
    rows = await repository.page(session, before=time_and_id(cursor), limit=limit + 1)
    items = [present.capture(row, kept_for(settings)) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)


async def get(session: ReadSession, settings: Settings, capture_id: UUID) -> CaptureDetail:
    row = await require(session, capture_id, whole=True)
    labels = [present.label(series) for series in await repository.labels(session, capture_id)]
    return present.detail(row, labels, kept_for(settings))


async def get_series(session: ReadSession, capture_id: UUID, place: int) -> CaptureSeries:
    await require(session, capture_id)
    row = await repository.series(session, capture_id, place)
    if row is None:
        raise NotFound(f"Capture {capture_id} has no chart {place}.")
    return present.series(row)


def models() -> TransportModels:
    return TransportModels(items=[present.figures(model) for model in transport_figures().values()])


async def verdicts(session: ReadSession, settings: Settings, capture_id: UUID, model: str) -> CaptureVerdicts:
    """Compare each queue pair's latencies with what is published of a model."""
    figures = transport_figures().get(model)
    if figures is None:
        raise ModelUnknown(f"{model!r} is unknown; known are {', '.join(transport_figures())}.")
    analysis = (await get(session, settings, capture_id)).analysis
    if analysis is None:
        raise NotAnalysed
    rows = latency_verdicts(analysis.qps, analysis.half_rtt.rtt_ns, figures)
    return CaptureVerdicts(
        model=present.figures(figures), items=[QueuePairVerdict.model_validate(row, from_attributes=True) for row in rows]
    )


async def attach(session: WriteSession, caller: Caller, capture_id: UUID, body: CaptureAttachment) -> CaptureAttached:
    """Add what a capture shows to an incident's timeline."""
    row = await require(session, capture_id)
    if row.summary is None:
        raise NotAnalysed
    await incidents.require(session, body.incident_id)
    text = present.sentence(row.name, CaptureSummary.model_validate(row.summary))
    await incidents.note(session, body.incident_id, "capture", caller.actor, text, capture_id=str(row.id))
    audit.record(
        session, caller.actor, "capture.attach", row.name, address=caller.address, capture_id=str(row.id),
        incident_id=str(body.incident_id),
    )  # fmt: skip
    return CaptureAttached(incident_id=body.incident_id, text=text)


async def delete(session: WriteSession, caller: Caller, capture_id: UUID) -> None:
    """Delete an analysis; one that runs ends unseen."""
    row = await require(session, capture_id)
    await repository.remove(session, capture_id)
    audit.record(session, caller.actor, "capture.delete", row.name, address=caller.address, capture_id=str(capture_id))


async def clean_up(session: WriteSession, settings: Settings) -> None:
    """Delete what has expired, and give up captures whose server died with their file."""
    at = clock.now()
    await repository.fail_orphans(session, at - SILENT_AFTER, at, _GONE)
    await repository.remove_older(session, at - kept_for(settings))
