"""`wallwatch hosts`: agents of hosts (over the API); telemetry keys of hosts, and the secret that they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wallwatch.cli.remote import hosts as agents
from wallwatch.cli.remote.running import group
from wallwatch.domain.telemetry import keys
from wallwatch.domain.telemetry.identities import HOST
from wallwatch.settings import Settings
from wallwatch.store import telemetry_secret

app = group("Hosts: their agents and telemetry keys.")
agents.add_to(app)


def _fail(text: str) -> typer.Exit:
    typer.echo(text, err=True)
    return typer.Exit(1)


def _file() -> Path:
    file = Settings().telemetry_secret_file
    if file is None:
        raise _fail("WALLWATCH_TELEMETRY_SECRET_FILE is not set, so telemetry keys are not checked. Set it to the file of the secret.")
    return file


@app.command("telemetry-key")
def telemetry_key(
    hosts: Annotated[list[str], typer.Argument(help="Names of hosts, as their collectors send them.")],
    table: Annotated[bool, typer.Option("--table", help="Print the name before the key, also of a single host.")] = False,
) -> None:
    """Print the telemetry key of a host; of several hosts, one line each with the name before it.

    An enrolled agent gets its key by itself. A host without an agent needs it in WALLWATCH_TELEMETRY_KEY of its collector.
    """
    for host in hosts:
        if not HOST.matches(host):
            raise _fail(f"{host[:60]!a} is not {HOST.text}")
    try:
        current, *_ = telemetry_secret.read_or_create(_file())
    except (OSError, keys.BadSecret) as error:
        raise _fail(f"The telemetry secret cannot be read: {error}") from error
    for host in hosts:
        key = keys.key_of(current, host)
        typer.echo(key if len(hosts) == 1 and not table else f"{host}\t{key}")


@app.command("rotate-telemetry-secret")
def rotate_telemetry_secret() -> None:
    """Begin a new telemetry secret. Keys of the present one stay valid until `wallwatch hosts end-former-secret`; older ones end."""
    file = _file()
    try:
        telemetry_secret.rotate(file)
    except (OSError, keys.BadSecret) as error:
        raise _fail(f"The telemetry secret cannot be rotated: {error}") from error
    typer.echo(
        f"{file} has a new secret. Connected agents get their new key within a minute. Give new keys to hosts without an agent, "
        "then run `wallwatch hosts end-former-secret`."
    )


@app.command("end-former-secret")
def end_former_secret() -> None:
    """End the overlap of a rotation: keys of the former telemetry secret are refused."""
    try:
        ended = telemetry_secret.retire_former(_file())
    except (OSError, keys.BadSecret) as error:
        raise _fail(f"The telemetry secret cannot be changed: {error}") from error
    typer.echo("Keys of the former secret are refused from now on." if ended else "There was no former secret; nothing changed.")
