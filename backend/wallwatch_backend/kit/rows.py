"""How many rows a statement changed."""

from typing import Any, cast

from sqlalchemy import CursorResult, Result


def changed(result: Result[Any]) -> int:
    """Return the number of rows that an INSERT, UPDATE or DELETE changed."""
    return cast("CursorResult[Any]", result).rowcount
