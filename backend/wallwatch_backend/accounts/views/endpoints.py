"""`/views`: saved views of the incident list: the caller's, and those that others share."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path

from wallwatch_backend.accounts.views import service
from wallwatch_backend.accounts.views.schemas import NewView, View, ViewChange
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.idempotency import IdempotencyKeyReused, TheOnce

router = APIRouter(prefix="/views", tags=["views"])

ViewId = Annotated[UUID, Path()]
_CHANGE = problems.responses(*WRITE_ERRORS, problems.NotFound, service.NameTaken)


@router.get("", operation_id="listViews", responses=problems.responses(*READ_ERRORS))
async def list_views(caller: AsViewer, session: Reading) -> list[View]:
    """List the caller's views and those that others share, by name."""
    return await service.list_views(session, caller)


@router.post(
    "",
    operation_id="createView",
    status_code=201,
    responses=problems.responses(*WRITE_ERRORS, service.NameTaken, service.TooMany, IdempotencyKeyReused),
)
async def create_view(caller: AsViewer, body: NewView, session: Writing, once: TheOnce) -> View:
    """Save a view; any role may."""
    return await once(session, caller, body, View, lambda: service.create(session, caller, body))


@router.patch("/{view_id}", operation_id="updateView", responses=_CHANGE)
async def update_view(caller: AsViewer, view_id: ViewId, body: ViewChange, session: Writing) -> View:
    """Change one of the caller's views."""
    return await service.update(session, caller, view_id, body)


@router.delete("/{view_id}", operation_id="deleteView", status_code=204, responses=problems.responses(*WRITE_ERRORS, problems.NotFound))
async def delete_view(caller: AsViewer, view_id: ViewId, session: Writing) -> None:
    """Delete one of the caller's views."""
    await service.delete(session, caller, view_id)
