"""Many rows in one statement: arrays of ids as one parameter, and how many rows a statement changed."""

from collections.abc import Iterable
from typing import Any, cast
from uuid import UUID

from sqlalchemy import CursorResult, Result, Text, func, literal
from sqlalchemy import cast as sql_cast
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import UUID as PgUuid

UUIDS: ARRAY[UUID] = ARRAY(PgUuid(as_uuid=True))
_TEXTS: ARRAY[str] = ARRAY(Text())


def changed(result: Result[Any]) -> int:
    """Return the number of rows that an INSERT, UPDATE or DELETE changed."""
    return cast("CursorResult[Any]", result).rowcount


def any_of_texts(texts: Iterable[str]) -> Any:
    """For comparisons: `column == any_of_texts(hosts)`."""
    return func.any(sql_cast(literal(list(texts), _TEXTS), _TEXTS))


def array_of(ids: Iterable[UUID]) -> Any:
    """The ids as one parameter, so that the statement's text is the same for any number."""
    return sql_cast(literal(list(ids), UUIDS), UUIDS)


def any_of(ids: Iterable[UUID]) -> Any:
    """For comparisons: `column == any_of(ids)`."""
    return func.any(array_of(ids))
