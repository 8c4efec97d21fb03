"""`/captures`: packet captures of RoCEv2, analysed. The packets are deleted once the analysis is done."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import JSONResponse

from wallwatch_backend.captures import errors, service
from wallwatch_backend.captures.analyser import CaptureAnalyser
from wallwatch_backend.captures.schemas import (
    Capture,
    CaptureAttached,
    CaptureAttachment,
    CaptureDetail,
    CaptureOptions,
    CaptureSeries,
    CaptureVerdicts,
    Ends,
    TransportModels,
)
from wallwatch_backend.incidents.errors import MergedAway
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, TheDatabase, Writing
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.settings_dependency import TheSettings
from wallwatch_backend.kit.text import Line

router = APIRouter(prefix="/captures", tags=["captures"])

CaptureId = Annotated[UUID, Path()]
ONE = problems.responses(*READ_ERRORS, problems.NotFound)
_BODY = {
    "requestBody": {
        "required": True,
        "description": "The file: pcap or pcapng, gzipped or not",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


async def _analyser(request: Request) -> CaptureAnalyser:
    analyser: CaptureAnalyser = request.app.state.captures
    return analyser


TheAnalyser = Annotated[CaptureAnalyser, Depends(_analyser)]


def _options(
    roce_port: Annotated[str, Query(max_length=5, pattern=r"^(any|[0-9]{1,5})$", description="Of RoCE, or `any`")] = "4791",
    timeout: Annotated[int, Query(ge=0, le=31, description="The QPs' `timeout` attribute")] = 14,
    events: Annotated[Literal["lumina"] | None, Query(description="The frames carry Lumina's mirror metadata")] = None,
    rtt_us: Annotated[float | None, Query(ge=0, le=1e9, description="Round trip between the hosts; absent: estimated")] = None,
    qp: Annotated[list[Ends] | None, Query(max_length=100, description="Connections as IP:QPN-IP:QPN")] = None,
) -> CaptureOptions:
    return CaptureOptions(roce_port=roce_port, timeout=timeout, events=events, rtt_us=rtt_us, pairs=qp or [])


@router.post(
    "",
    operation_id="uploadCapture",
    status_code=201,
    openapi_extra=_BODY,
    responses=problems.responses(
        *WRITE_ERRORS,
        errors.UploadBrokeOff,
        errors.CaptureTooLarge,
        errors.NotACapture,
        errors.CaptureOptionInvalid,
        errors.TooManyUploads,
    ),
)
async def upload_capture(
    caller: AsOperator,
    request: Request,
    name: Annotated[Line, Query(description="What the list shows, such as the file's name")],
    options: Annotated[CaptureOptions, Depends(_options)],
    database: TheDatabase,
    settings: TheSettings,
    analyser: TheAnalyser,
) -> Capture:
    """Upload a capture; it is written to disk as it arrives, and analysed in a process of its own."""
    announced = request.headers.get("content-length", "")
    return await service.upload(
        database, settings, analyser, caller, name, options, request.stream(), int(announced) if announced.isdigit() else None
    )


@router.get("", operation_id="listCaptures", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_captures(
    caller: AsViewer, session: Reading, settings: TheSettings, limit: Limit = 50, cursor: Cursor = None
) -> Page[Capture]:
    """List captures, newest first."""
    return await service.list_captures(session, settings, limit=limit, cursor=cursor)


@router.get("/models", operation_id="listTransportModels", responses=problems.responses(*READ_ERRORS))
async def list_models(caller: AsViewer) -> TransportModels:
    """List the RNIC models with published retransmission latencies."""
    return service.models()


@router.get("/{capture_id}", operation_id="getCapture", responses=ONE)
async def get_capture(caller: AsViewer, capture_id: CaptureId, session: Reading, settings: TheSettings) -> CaptureDetail:
    """Return a capture with its analysis, and which queue pairs have a chart."""
    return await service.get(session, settings, capture_id)


@router.get("/{capture_id}/series/{place}", operation_id="getCaptureSeries", responses=ONE)
async def get_series(
    caller: AsViewer, capture_id: CaptureId, place: Annotated[int, Path(ge=0, le=10_000)], session: Reading
) -> CaptureSeries:
    """Return the PSNs over time of one queue pair, with NACKs, CNPs, losses and retransmissions."""
    return await service.get_series(session, capture_id, place)


@router.get(
    "/{capture_id}/verdicts",
    operation_id="getCaptureVerdicts",
    responses=problems.responses(*READ_ERRORS, problems.NotFound, errors.ModelUnknown, errors.NotAnalysed),
)
async def get_verdicts(
    caller: AsViewer,
    capture_id: CaptureId,
    session: Reading,
    settings: TheSettings,
    model: Annotated[str, Query(max_length=40, pattern=r"^[a-z0-9-]+$", description="Id of a model with published latencies")],
) -> CaptureVerdicts:
    """Compare latencies with the published ones of an RNIC model."""
    return await service.verdicts(session, settings, capture_id, model)


@router.get(
    "/{capture_id}/analysis",
    operation_id="downloadCaptureAnalysis",
    response_class=JSONResponse,
    responses={
        200: {"description": "The analysis", "content": {"application/json": {"schema": {"type": "object"}}}},
        **problems.responses(*READ_ERRORS, problems.NotFound, errors.NotAnalysed),
    },
)
async def download_analysis(caller: AsViewer, capture_id: CaptureId, session: Reading) -> JSONResponse:
    """Download the analysis as JSON, with the names of `wallwatch capture analyse --json`."""
    row = await service.require(session, capture_id, whole=True)
    if row.result is None:
        raise errors.NotAnalysed
    headers = {"Content-Disposition": f'attachment; filename="wallwatch-capture-{capture_id}.json"'}
    return JSONResponse({"file": row.name, **row.result}, headers=headers)


@router.post(
    "/{capture_id}/attach",
    operation_id="attachCapture",
    status_code=201,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.NotAnalysed, MergedAway, IdempotencyKeyReused),
)
async def attach(caller: AsOperator, capture_id: CaptureId, body: CaptureAttachment, session: Writing, once: TheOnce) -> CaptureAttached:
    """Add what a capture shows to the timeline of an incident."""
    return await once(session, caller, body, CaptureAttached, lambda: service.attach(session, caller, capture_id, body))


@router.delete(
    "/{capture_id}", operation_id="deleteCapture", status_code=204, responses=problems.responses(*WRITE_ERRORS, problems.NotFound)
)
async def delete(caller: AsOperator, capture_id: CaptureId, session: Writing) -> None:
    """Delete a capture's analysis."""
    await service.delete(session, caller, capture_id)
