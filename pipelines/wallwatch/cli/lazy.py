"""Commands that are imported when they are called, so that `wallwatch --help` and each command start quickly.

Other packages add commands through entry points: `wallwatch agent`, `wallwatch token` and `wallwatch user` come from the backend.
A stream job therefore never imports the API, and a package that fails to import breaks only its own commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from wallwatch.setting_errors import wrong_settings

GROUP = "wallwatch.commands"

HELP_OF_OTHER_PARTS = {
    "agent": "Agents on hosts.",
    "audit": "The audit log.",
    "keys": "Keys that sign commands to agents.",
    "token": "API tokens.",
    "user": "Local accounts.",
}
"""One line per known entry point: an entry point has no help text, and loading it would import the whole API."""


class Command(NamedTuple):
    """A command of this package."""

    target: str
    """`module:name` of a Typer application, or of a function for a command without subcommands."""
    help: str
    """Equal to the application's own help: a test compares them."""


@cache
def entry_point_commands() -> dict[str, EntryPoint]:
    """Name -> entry point of every command that another package adds."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def loaded(target: str) -> Any:
    """The command behind `module:name`."""
    module, _, name = target.partition(":")
    found = getattr(import_module(module), name)
    if isinstance(found, typer.Typer):
        return _group_of(found)
    application = typer.Typer(add_completion=False, rich_markup_mode=None)
    application.command()(found)
    return typer.main.get_command(application)


def _group_of(application: typer.Typer) -> Any:
    """Build a group even for one command (`wallwatch token create`). Help is plain text: Rich is the slowest import of all."""
    application.rich_markup_mode = None
    return typer.main.get_group(application)


class Deferred(TyperCommand):
    """Placeholder for a command in lists; the command itself is imported when it runs or prints its help."""

    def __init__(self, name: str, help_text: str, load: Callable[[], Any]) -> None:
        super().__init__(name, help=help_text, short_help=help_text)
        self._load = load

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        command = self._load()
        command.name = self.name
        return command.make_context(info_name, args, parent, **extra)


class LazyGroup(TyperGroup):
    """A group of the commands in `COMMANDS` and of those of the entry points."""

    COMMANDS: ClassVar[Mapping[str, Command]] = {}

    def invoke(self, ctx: Any) -> Any:
        """Run the command; wrong settings are named, one variable per line, with exit code 2."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            lines = wrong_settings(error)
            if not lines:
                raise
            for line in lines:
                typer.echo(line, err=True)
            raise typer.Exit(2) from None

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.COMMANDS, *sorted(entry_point_commands())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        own = self.COMMANDS.get(cmd_name)
        if own is not None:
            return Deferred(cmd_name, own.help, lambda: loaded(own.target))
        entry = entry_point_commands().get(cmd_name)
        if entry is None:
            return None
        help_text = HELP_OF_OTHER_PARTS.get(cmd_name, f"Commands of {entry.value.partition(':')[0]}.")
        return Deferred(cmd_name, help_text, lambda: _of_another_part(entry))


def _of_another_part(entry: EntryPoint) -> Any:
    try:
        return _group_of(entry.load())
    except Exception as error:
        return _unavailable(entry, error)


def _unavailable(entry: EntryPoint, error: Exception) -> Any:
    """A replacement for a command that could not be imported; it prints the reason when it is called."""
    message = f"not available: {entry.value} could not be imported ({type(error).__name__}: {error})"
    app = typer.Typer()

    @app.command(help=message, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def explain() -> None:
        typer.echo(f"wallwatch {entry.name} is {message}", err=True)
        raise typer.Exit(1)

    return typer.main.get_command(app)
