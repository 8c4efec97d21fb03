"""What all commands share: running on the database, and one clear line when that fails."""

from __future__ import annotations

import getpass
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from wallwatch_backend.kit.database import Database

T = TypeVar("T")


def group(help_text: str) -> typer.Typer:
    """Create a group of commands; it stays a group if it has one command only, as `wallwatch token create` does."""
    app = typer.Typer(help=help_text, no_args_is_help=True)
    app.callback()(lambda: None)
    return app


def fail(text: str) -> typer.Exit:
    """Print an error; raise what this returns."""
    typer.echo(text, err=True)
    return typer.Exit(1)


def run(work: Callable[[Database], Awaitable[T]]) -> T:
    """Run something on the database; explain on standard error what to do if that fails."""
    import asyncio

    from sqlalchemy.exc import OperationalError, ProgrammingError

    from wallwatch_backend.kit.database import Database
    from wallwatch_backend.kit.problems import WallwatchError
    from wallwatch_backend.settings import Settings

    async def on_database() -> T:
        database = Database(Settings())
        try:
            return await work(database)
        finally:
            await database.dispose()

    try:
        return asyncio.run(on_database())
    except WallwatchError as error:
        raise fail(f"{error.title}. {error.detail}") from error
    except OperationalError as error:
        raise fail(f"The database does not answer; is WALLWATCH_DATABASE_URL right? {str(error.orig).splitlines()[0]}") from error
    except ProgrammingError as error:
        raise fail(f"The database lacks tables: run `wallwatch db upgrade` first. {str(error.orig).splitlines()[0]}") from error


def checked(kind: object, value: str, noun: str) -> str:
    """Return a value that satisfies a pydantic type, or fail."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return str(TypeAdapter(kind).validate_python(value))
    except ValidationError as error:
        raise fail(f"{noun} is invalid: {error.errors()[0]['msg']}") from error


def actor() -> str:
    """Return how the audit log names the person at this terminal."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a container's user may have no name
        return "cli"
