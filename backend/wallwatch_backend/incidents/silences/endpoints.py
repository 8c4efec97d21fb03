"""`/silences`: silences and maintenance windows."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from wallwatch_backend.incidents.silences import errors, service
from wallwatch_backend.incidents.silences.schemas import NewSilence, Preview, PreviewRequest, Silence, SilenceChange, SilenceState
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsOperator, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.etags import IfMatch, VersionMismatch, etag
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page

router = APIRouter(prefix="/silences", tags=["silences"])

SilenceId = Annotated[UUID, Path()]


@router.get("", operation_id="listSilences", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_silences(
    caller: AsViewer,
    session: Reading,
    state: Annotated[list[SilenceState] | None, Query(description="May be repeated")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Page[Silence]:
    """List silences, latest end first."""
    return await service.list_silences(session, state, limit, cursor)


@router.post(
    "", operation_id="createSilence", status_code=201, responses=problems.responses(*WRITE_ERRORS, IdempotencyKeyReused, errors.BadInterval)
)
async def create_silence(caller: AsOperator, body: NewSilence, session: Writing, once: TheOnce, response: Response) -> Silence:
    """Create a silence, which suppresses incidents whose findings it matches, now or from a later time on."""
    created = await once(session, caller, body, Silence, lambda: service.create(session, caller, body))
    response.headers["ETag"] = etag(created.version)
    return created


@router.post("/preview", operation_id="previewSilence", responses=problems.responses(*WRITE_ERRORS))
async def preview_silence(caller: AsOperator, body: PreviewRequest, session: Reading) -> Preview:
    """Return what matchers select, without creating a silence."""
    return await service.preview(session, body)


@router.get("/{silence_id}", operation_id="getSilence", responses=problems.responses(*READ_ERRORS, problems.NotFound))
async def get_silence(caller: AsViewer, silence_id: SilenceId, session: Reading, response: Response) -> Silence:
    """Return one silence."""
    silence = await service.get(session, silence_id)
    response.headers["ETag"] = etag(silence.version)
    return silence


@router.patch(
    "/{silence_id}",
    operation_id="updateSilence",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, VersionMismatch, errors.BadInterval, errors.Expired),
)
async def update_silence(
    caller: AsOperator, silence_id: SilenceId, body: SilenceChange, session: Writing, response: Response, if_match: IfMatch = None
) -> Silence:
    """Change a silence that has not ended; `ends_at` now or earlier ends it."""
    changed = await service.update(session, caller, silence_id, body, if_match)
    response.headers["ETag"] = etag(changed.version)
    return changed


@router.delete(
    "/{silence_id}",
    operation_id="expireSilence",
    status_code=204,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, VersionMismatch),
)
async def expire_silence(caller: AsOperator, silence_id: SilenceId, session: Writing, if_match: IfMatch = None) -> None:
    """End a silence now. It stays in the list as expired; a pending one is deleted."""
    await service.expire(session, caller, silence_id, if_match)
