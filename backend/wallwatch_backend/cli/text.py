"""Words and times in the lines that commands print."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]


def echo_json(found: BaseModel | Sequence[object]) -> None:
    """Print a list or an answer of the API as JSON."""
    from pydantic import BaseModel

    if isinstance(found, BaseModel):
        typer.echo(found.model_dump_json(indent=2))
    else:
        plain = [one.model_dump(mode="json") if isinstance(one, BaseModel) else one for one in found]
        typer.echo(json.dumps(plain, indent=2))


def expiry(at: datetime | None) -> str:
    return f"until {at.isoformat(timespec='seconds')}" if at is not None else "no end"


def host_names(hosts: Sequence[str], total: int) -> str:
    """Return host names as text; of a long list only the first ones are known.

    >>> host_names(["host01", "host02"], 5)
    'host01, host02 and 3 more'
    """
    return ", ".join(hosts) + (f" and {total - len(hosts)} more" if total > len(hosts) else "")
