"""What all commands over the API share: their options, one clear line when a request fails, and `--watch`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import click
import typer
from typer.core import TyperGroup

from wallwatch.api_client.errors import ClientError, NotFound, Unreachable, WrongUsage
from wallwatch.api_client.profiles import chosen
from wallwatch.cli.remote.output import Column, Format, rendered, terminal_width

if TYPE_CHECKING:
    from wallwatch.api_client.client import Client

ProfileOption = Annotated[str | None, typer.Option("--profile", help="Profile to use; default: the environment, else the current one.")]
OutputOption = Annotated[Format, typer.Option("--output", "-o", help="How to print.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Short for --output json.")]
WatchOption = Annotated[
    float | None, typer.Option("--watch", "-w", min=1, metavar="SECONDS", help="Print again every so many seconds, until Ctrl-C.")
]
LimitOption = Annotated[int, typer.Option("--limit", "-n", min=0, help="At most so many; 0: all.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

INTERRUPTED = 130
"""As shells count a program that Ctrl-C ended."""
SHORTEST = 4
"""Characters that a short id needs at least."""
FULL = 36
CANDIDATES = 2_000
"""Newest items among which a short id is looked up."""


@contextmanager
def _reported() -> Iterator[None]:
    """End failures in a line on standard error and an exit code."""
    try:
        yield
    except ClientError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        sys.stderr.close()  # the reader, such as `head`, has enough
        raise typer.Exit(0) from None


class RemoteGroup(TyperGroup):
    """Commands whose failures end in a line on standard error and an exit code of docs/cli.md."""

    def invoke(self, ctx: Any) -> Any:
        with _reported():
            return super().invoke(ctx)


P = ParamSpec("P")


def failing(command: Callable[P, None]) -> Callable[P, None]:
    """The same for a command outside of a group."""

    @wraps(command)
    def reporting(*arguments: P.args, **options: P.kwargs) -> None:
        with _reported():
            command(*arguments, **options)

    return reporting


def group(help_text: str) -> typer.Typer:
    """Create a group of commands over the API."""
    return typer.Typer(cls=RemoteGroup, help=help_text, no_args_is_help=True)


def connected(profile: str | None, timeout_s: float = 30.0) -> Client:
    """Open the API that a command asks for."""
    from wallwatch.api_client.client import Client

    return Client(chosen(os.environ, profile), timeout_s)


def show(
    fetch: Callable[[], Any],
    columns: Sequence[Column],
    output: Format,
    as_json: bool = False,
    watch: float | None = None,
    ending: Callable[[Any], str] | None = None,
) -> None:
    """Print what `fetch` returns, once or again and again."""
    form = Format.json if as_json else output
    while True:
        items = fetch() if watch is None else _patiently(fetch)
        if items is not None:
            is_terminal = sys.stdout.isatty()
            text = rendered(form, items, columns, width=terminal_width(is_terminal), one_line=watch is not None)
            if watch is not None and is_terminal and form is Format.table:
                click.clear()
            typer.echo(text)
            if ending is not None and form is Format.table and (note := ending(items)):
                typer.echo(note, err=True)
        if watch is None:
            return
        sys.stdout.flush()
        time.sleep(watch)


def _patiently(fetch: Callable[[], Any]) -> Any:
    """As `fetch`; a server that is down for a while does not end a watch."""
    try:
        return fetch()
    except Unreachable as error:
        typer.echo(str(error), err=True)
        return None


def most(limit: int) -> int | None:
    """The maximum number of items; None for all."""
    return limit or None


def more_note(limit: int) -> Callable[[Any], str]:
    """Say that a list may have been cut."""
    return lambda items: f"The first {limit}; --limit 0 shows all." if limit and len(items) == limit else ""


def full_id(client: Client, path: str, given: str, query: dict[str, Any] | None = None) -> str:
    """Return the id that begins with what was given, at least four characters of it."""
    text = given.strip().lower()
    if len(text) == FULL:
        return text
    if len(text) < SHORTEST or set(text) - set("0123456789abcdef-"):
        raise WrongUsage(f"{given!a} is not an id, nor the first {SHORTEST} characters or more of one")
    matching = [item["id"] for item in client.pages(path, query, most=CANDIDATES) if item["id"].startswith(text)]
    if not matching:
        raise NotFound(f"Nothing among the newest {CANDIDATES} has an id that begins with {text}.")
    if len(matching) > 1:
        raise WrongUsage(f"{len(matching)} ids begin with {text}: {', '.join(matching[:5])}")
    return str(matching[0])


def confirmed(question: str, yes: bool) -> None:
    """Ask before a change that cannot be undone by one command; a program says --yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise WrongUsage("This asks before it acts, and nobody is there to answer: add --yes.")
    if not typer.confirm(question):
        raise typer.Exit(0)
