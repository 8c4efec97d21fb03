"""Lists: `{"items": [], "next_cursor": null}`. A cursor is opaque and holds the sort key of the last row of the page."""

import base64
import binascii
from datetime import datetime
from typing import Annotated, Generic, TypeVar
from uuid import UUID

import orjson
from fastapi import Query
from pydantic import BaseModel, Field

from wallwatch_backend.kit.problems import InvalidInput

Item = TypeVar("Item", bound=BaseModel)


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next_cursor: str | None = Field(default=None, description="Pass it as `cursor` to get the next page; null at the end")


class BadCursor(InvalidInput):
    code, title = "bad_cursor", "This cursor does not belong to this list"


Limit = Annotated[int, Query(ge=1, le=500, description="Maximum number of items")]
Cursor = Annotated[str | None, Query(max_length=500, description="`next_cursor` of the previous page")]


def encode_cursor(*parts: str | int | datetime) -> str:
    """Create a cursor from the sort key of a row.

    >>> decode_cursor(encode_cursor("host1", 3), str, int)
    ('host1', 3)
    """
    raw = orjson.dumps([p.isoformat() if isinstance(p, datetime) else p for p in parts])
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def decode_cursor(cursor: str, *kinds: type) -> tuple[object, ...]:
    """Read a cursor back, or raise `BadCursor`."""
    try:
        parts = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(parts, list) or len(parts) != len(kinds):
            raise BadCursor
        values = tuple(datetime.fromisoformat(part) if kind is datetime else part for part, kind in zip(parts, kinds, strict=True))
    except (binascii.Error, ValueError, TypeError) as error:
        raise BadCursor from error
    for value, kind in zip(values, kinds, strict=True):
        aware = not isinstance(value, datetime) or value.tzinfo is not None
        if not isinstance(value, kind) or isinstance(value, bool) or not aware or (isinstance(value, str) and "\0" in value):
            raise BadCursor
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise BadCursor
    return values


def time_and_id(cursor: str | None) -> tuple[datetime, UUID] | None:
    """Read a cursor of a list that is sorted by time and id."""
    if cursor is None:
        return None
    at, id = decode_cursor(cursor, datetime, str)
    try:
        assert isinstance(at, datetime)  # noqa: S101 - decode_cursor has checked it
        return at, UUID(str(id))
    except ValueError as error:
        raise BadCursor from error
