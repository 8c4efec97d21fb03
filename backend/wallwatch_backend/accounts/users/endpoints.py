"""`/users`: local accounts, for administrators."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path

from wallwatch_backend.accounts.users import service
from wallwatch_backend.accounts.users.schemas import NewUser, User, UserChange
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsAdmin
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page

router = APIRouter(prefix="/users", tags=["users"])


@router.get("", operation_id="listUsers", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_users(caller: AsAdmin, session: Reading, limit: Limit = 100, cursor: Cursor = None) -> Page[User]:
    """List the local accounts by name."""
    return await service.list_users(session, limit, cursor)


@router.post("", operation_id="createUser", status_code=201, responses=problems.responses(*WRITE_ERRORS, service.NameTaken))
async def create_user(caller: AsAdmin, body: NewUser, session: Writing) -> User:
    """Create a local account."""
    return await service.create_user(session, caller, body)


@router.patch(
    "/{user_id}",
    operation_id="updateUser",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, service.LastAdmin, service.ExternalAccount),
)
async def update_user(caller: AsAdmin, user_id: Annotated[UUID, Path()], body: UserChange, session: Writing) -> User:
    """Change role or password, or disable an account. Disabling and a new password end the account's sessions."""
    return await service.update_user(session, caller, user_id, body)
