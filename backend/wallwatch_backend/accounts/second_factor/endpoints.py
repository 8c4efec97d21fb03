"""`/users/{id}/second-factor`, for administrators."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path

from wallwatch_backend.accounts.second_factor import service
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import WRITE_ERRORS, AsAdmin
from wallwatch_backend.kit.database import Writing

router = APIRouter(prefix="/users", tags=["users"])


@router.delete(
    "/{user_id}/second-factor",
    operation_id="resetSecondFactor",
    status_code=204,
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound),
)
async def reset_second_factor(caller: AsAdmin, user_id: Annotated[UUID, Path()], session: Writing) -> None:
    """Turn off the second factor of somebody who lost the app and the recovery codes."""
    await service.reset(session, caller.actor, caller.address, user_id)
