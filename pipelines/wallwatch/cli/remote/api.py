"""`wallwatch api`: any operation of the API, for what has no command of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from wallwatch.api_client.errors import WrongUsage
from wallwatch.cli.remote.running import ProfileOption, connected, group

app = group("Any operation of the API, as JSON.")

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@app.command("call", help="Call an operation and print its answer, such as: wallwatch api call GET /incidents/counts -q severity=critical")
def call(
    method: Annotated[str, typer.Argument(help="GET, POST, PUT, PATCH or DELETE.")],
    path: Annotated[str, typer.Argument(help="Below /api/v1, such as /incidents.")],
    query: Annotated[list[str] | None, typer.Option("--query", "-q", help="NAME=VALUE; may be repeated.")] = None,
    body: Annotated[str | None, typer.Option("--body", "-d", help="JSON; @FILE reads a file, @- standard input.")] = None,
    if_match: Annotated[str | None, typer.Option(help="The version (ETag) that was read.")] = None,
    profile: ProfileOption = None,
) -> None:
    """Call an operation."""
    verb = method.upper()
    if verb not in METHODS:
        raise WrongUsage(f"{method!a} is none of {', '.join(METHODS)}")
    below = "/" + path.removeprefix("/api/v1").lstrip("/")
    with connected(profile) as client:
        answer = client.request(verb, f"/api/v1{below}", query=_query(query or []), body=_body(body), etag=if_match).body
    if isinstance(answer, str):
        typer.echo(answer, nl=not answer.endswith("\n"))
    elif answer is not None:
        typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))


def _query(given: list[str]) -> dict[str, list[str]]:
    """Parameters by name; a repeated name has several values.

    >>> _query(["state=open", "state=reopened"])
    {'state': ['open', 'reopened']}
    """
    found: dict[str, list[str]] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise WrongUsage(f"{text!a} is not NAME=VALUE")
        found.setdefault(name, []).append(value)
    return found


def _body(given: str | None) -> Any:
    if given is None:
        return None
    try:
        if given == "@-":
            given = sys.stdin.read()
        elif given.startswith("@"):
            given = Path(given[1:]).read_text(encoding="utf-8")
        return json.loads(given)
    except OSError as error:
        raise WrongUsage(f"{given[1:]} cannot be read: {error}") from error
    except ValueError as error:
        raise WrongUsage(f"The body is not JSON: {error}") from error
