"""`/tokens`: API tokens, for administrators."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Response

from wallwatch_backend.accounts.tokens import service
from wallwatch_backend.accounts.tokens.errors import AboveOwner, OwnerUnknown
from wallwatch_backend.accounts.tokens.schemas import CreatedToken, NewToken, Token
from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsAdmin
from wallwatch_backend.kit.database import Reading, Writing
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page

router = APIRouter(prefix="/tokens", tags=["tokens"])


@router.get("", operation_id="listTokens", responses=problems.responses(*READ_ERRORS, BadCursor))
async def list_tokens(caller: AsAdmin, session: Reading, limit: Limit = 100, cursor: Cursor = None) -> Page[Token]:
    """List the API tokens that have not expired, newest first; `state` says whether the owner's account still allows each."""
    return await service.list_tokens(session, limit, cursor)


@router.post("", operation_id="createToken", status_code=201, responses=problems.responses(*WRITE_ERRORS, AboveOwner, OwnerUnknown))
async def create_token(caller: AsAdmin, body: NewToken, session: Writing, response: Response) -> CreatedToken:
    """Create an API token that belongs to an account. This answer is the only one that contains it."""
    response.headers["Cache-Control"] = "no-store"
    return await service.create_token(session, caller, body)


@router.delete("/{token_id}", operation_id="deleteToken", status_code=204, responses=problems.responses(*WRITE_ERRORS, problems.NotFound))
async def delete_token(caller: AsAdmin, token_id: Annotated[UUID, Path()], session: Writing) -> None:
    """Revoke a token immediately, and end its open streams."""
    await service.delete_token(session, caller, token_id)
