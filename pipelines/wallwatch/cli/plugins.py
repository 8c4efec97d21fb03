"""Commands of other parts, by entry point: `wallwatch agent`, `wallwatch token`, `wallwatch user` come from the backend.

They are imported when they are called for, so a stream job never imports the API, and a part that is broken harms no other.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup

GROUP = "wallwatch.commands"


def found_commands() -> dict[str, EntryPoint]:
    """Name -> entry point of every command that another part brings."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


class CommandsOfOtherParts(TyperGroup):
    """A group that also knows the commands of the entry points."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *sorted(found_commands())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = super().get_command(ctx, cmd_name)
        entry = found_commands().get(cmd_name)
        if own is not None or entry is None:
            return own
        try:
            command = typer.main.get_group(entry.load())  # a group also when it has one command: `wallwatch token create`
        except Exception as error:
            command = _unavailable(entry, error)
        command.name = cmd_name
        return command


def _unavailable(entry: EntryPoint, error: Exception) -> Any:
    """A command in the place of one that could not be imported; it says why when it is called."""
    message = f"not available: {entry.value} could not be imported ({type(error).__name__}: {error})"
    app = typer.Typer()

    @app.command(help=message, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def explain() -> None:
        typer.echo(f"wallwatch {entry.name} is {message}", err=True)
        raise typer.Exit(1)

    return typer.main.get_command(app)
