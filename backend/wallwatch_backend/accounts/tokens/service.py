"""API tokens."""

from datetime import timedelta
from uuid import UUID

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.accounts.tokens import repository
from wallwatch_backend.accounts.tokens.models import TokenRow
from wallwatch_backend.accounts.tokens.schemas import CreatedToken, NewToken, Token
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.hashing import digest, new_secret
from wallwatch_backend.kit.paging import Page, encode_cursor, time_and_id
from wallwatch_backend.kit.problems import NotFound

PREFIX = "ww_"  # lets secret scanners find a token that was committed somewhere
_SHOWN = len(PREFIX) + 6


async def list_tokens(session: ReadSession, limit: int, cursor: str | None) -> Page[Token]:
    rows = await repository.page(session, clock.now(), time_and_id(cursor), limit + 1)
    items = [Token.model_validate(row, from_attributes=True) for row in rows[:limit]]
    return Page(items=items, next_cursor=encode_cursor(items[-1].created_at, str(items[-1].id)) if len(rows) > limit else None)


async def create_token(session: WriteSession, actor: str, body: NewToken, address: str | None) -> CreatedToken:
    secret = new_secret(PREFIX)
    expires_at = clock.now() + timedelta(days=body.ttl_days) if body.ttl_days is not None else None
    row = TokenRow(
        name=body.name, role=str(body.role), prefix=secret[:_SHOWN], token_hash=digest(secret), created_by=actor, expires_at=expires_at
    )
    await repository.add(session, row)
    audit.record(session, actor, repository.CREATED, body.name, address=address, role=str(body.role), token_id=str(row.id))
    return CreatedToken(**Token.model_validate(row, from_attributes=True).model_dump(), token=secret)


async def delete_token(session: WriteSession, caller: Caller, token_id: UUID) -> None:
    name = await repository.delete_one(session, token_id)
    if name is None:
        raise NotFound(f"There is no token {token_id}.")
    audit.record(session, caller.actor, "token.delete", name, address=caller.address, token_id=str(token_id))
