"""Commands of `wallwatch hosts` that work over the API; those about telemetry keys are in `wallwatch.cli.hosts`."""

from __future__ import annotations

from typing import Annotated

import typer

from wallwatch.api_client.errors import NotFound
from wallwatch.cli.remote import completion
from wallwatch.cli.remote.output import Column, Format, age, field
from wallwatch.cli.remote.running import (
    JsonOption,
    LimitOption,
    OutputOption,
    ProfileOption,
    WatchOption,
    connected,
    more_note,
    most,
    show,
)

LIST = (
    field("host", "host"),
    field("version", "version"),
    field("connected", "connected"),
    field("healthy", "healthy"),
    Column("seen", lambda item: age(item["last_seen_at"])),
    Column("certificate expires", lambda item: age(item["certificate"]["expires_at"]) if item["certificate"] else "none"),
    field("error", "health_error"),
)


def add_to(app: typer.Typer) -> None:
    """Add the commands to the group."""
    app.command("list")(list_hosts)
    app.command("show")(show_host)


def list_hosts(
    connected_only: Annotated[bool | None, typer.Option("--connected/--lost", help="Only connected agents, or only lost ones.")] = None,
    limit: LimitOption = 50,
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """List hosts with an agent: connection, health and certificate."""
    with connected(profile) as client:
        query = {"connected": connected_only}
        show(lambda: list(client.pages("/agents", query, most(limit))), LIST, output, as_json, watch, more_note(limit))


def show_host(
    host: Annotated[str, typer.Argument(help="Name of the host.", autocompletion=completion.hosts)],
    profile: ProfileOption = None,
    output: OutputOption = Format.table,
    as_json: JsonOption = False,
    watch: WatchOption = None,
) -> None:
    """Show the agent of a host."""
    with connected(profile) as client:

        def agent() -> object:
            for found in client.pages("/agents", {"host": host}):
                return found
            raise NotFound(f"No host {host!a} has an enrolled agent.")

        show(agent, LIST, output, as_json, watch)
