"""`wallwatch profile`: servers and tokens that the commands over the API use."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from wallwatch.api_client import profiles
from wallwatch.api_client.errors import WrongUsage
from wallwatch.cli.remote import completion
from wallwatch.cli.remote.output import Column, Format, field
from wallwatch.cli.remote.running import JsonOption, OutputOption, connected, group, show

app = group("Profiles: servers and tokens of the commands over the API.")

Name = Annotated[str, typer.Argument(help="Name of the profile.", autocompletion=completion.profiles)]

LIST = (
    Column("current", lambda item: "*" if item["current"] else ""),
    field("name", "name"),
    field("url", "url"),
    field("token", "has_token"),
    field("authorities", "ca_file"),
)


@app.command("set")
def set_profile(
    name: Name,
    url: Annotated[str, typer.Option(help="Address of the server, such as https://wallwatch.example.")],
    ca_file: Annotated[str | None, typer.Option(help="PEM file of the authorities that signed its certificate.")] = None,
    no_token: Annotated[bool, typer.Option("--no-token", help="Store no token; WALLWATCH_TOKEN brings it.")] = False,
) -> None:
    """Store a profile. The token is read from standard input, never from the command line, which others can see."""
    file = profiles.file_of(os.environ)
    stored = profiles.read(file)
    token = None if no_token else _token()
    profile = profiles.Profile(profiles.checked_url(url), token, ca_file)
    profiles.write(file, stored.having(profiles.checked_name(name), profile))
    typer.echo(f"Stored in {file}. Try it: wallwatch profile check --profile {name}")
    if profile.url.startswith("http:") and token is not None:
        typer.echo("This address is plain HTTP: everyone on the way can read the token.", err=True)


def _token() -> str:
    token = typer.prompt("Token", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline()
    if not token.strip():
        raise WrongUsage("No token came on standard input; --no-token stores a profile without one.")
    return str(token).strip()


@app.command("list")
def list_profiles(output: OutputOption = Format.table, as_json: JsonOption = False) -> None:
    """List the profiles. Tokens are not shown."""
    stored = profiles.read(profiles.file_of(os.environ))
    items = [
        {
            "name": name,
            "url": profile.url,
            "has_token": profile.token is not None,
            "ca_file": profile.ca_file,
            "current": name == stored.current,
        }
        for name, profile in sorted(stored.profiles.items())
    ]
    show(lambda: items, LIST, output, as_json)


@app.command("use")
def use(name: Name) -> None:
    """Make a profile the current one."""
    file = profiles.file_of(os.environ)
    stored = profiles.read(file)
    stored.named(name)
    profiles.write(file, profiles.Profiles(name, stored.profiles))
    typer.echo(f"{name} is the current profile.")


@app.command("remove")
def remove(name: Name) -> None:
    """Remove a profile and its token. The token stays valid until it is revoked."""
    file = profiles.file_of(os.environ)
    profiles.write(file, profiles.read(file).without(name))
    typer.echo(f"Removed {name}.")


@app.command("check")
def check(profile: Annotated[str | None, typer.Option("--profile", autocompletion=completion.profiles)] = None) -> None:
    """Ask the server who you are to it."""
    with connected(profile) as client:
        user = client.get("/session")["user"]
        typer.echo(f"{client.profile.url}: {user['username']}, role {user['role']}")
