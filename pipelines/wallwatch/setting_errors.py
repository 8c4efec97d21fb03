"""Wrong settings, in words for the person who wrote them. Values are never repeated: one of them may be a password."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

PREFIX = "WALLWATCH_"


def wrong_settings(error: Exception) -> list[str]:
    """One line per wrong variable if the error is about settings, else none.

    >>> wrong_settings(ValueError("something else"))
    []
    """
    pydantic = sys.modules.get("pydantic")  # whoever has wrong settings has imported it; the list of commands has not
    if pydantic is None or not isinstance(error, pydantic.ValidationError) or not error.title.endswith("Settings"):
        return []
    return [_line(detail) for detail in _details(error)]


def _details(error: ValidationError) -> list[tuple[str, str]]:
    return [
        ("".join(str(part) for part in detail["loc"][:1]), detail["msg"]) for detail in error.errors(include_url=False, include_input=False)
    ]


def _line(detail: tuple[str, str]) -> str:
    name, message = detail
    message = message.removeprefix("Value error, ")
    return f"{PREFIX}{name.upper()}: {message}" if name else message
