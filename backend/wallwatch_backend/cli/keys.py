"""`wallwatch keys`: keys that sign commands to agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wallwatch_backend.cli.running import actor, fail, group, run
from wallwatch_backend.cli.text import AsJson, echo_json, expiry, host_names

if TYPE_CHECKING:
    from wallwatch_backend.hosts.command_keys.schemas import CommandKeys
    from wallwatch_backend.hosts.command_keys.signing import CommandSigner
    from wallwatch_backend.kit.database import Database

app = group("Keys that sign commands to agents.")


def _signer() -> CommandSigner:
    """Return the server's first key, with the cipher of its successors. It is never created here: the server would use another."""
    from wallwatch_backend.hosts.command_keys.signing import FIRST_KEY, CommandSigner
    from wallwatch_backend.settings import Settings

    secrets = Settings().secrets_dir
    if not (secrets / FIRST_KEY).is_file():
        raise fail(f"{secrets} has no {FIRST_KEY}. Run this where the backend runs, or set WALLWATCH_SECRETS_DIR.")
    try:
        return CommandSigner.load(secrets)
    except OSError as error:
        raise fail(f"The server's secrets cannot be read: {error}") from error


@app.command("rotate")
def rotate_keys(
    overlap_hours: Annotated[
        float, typer.Option(help="Hours for which agents still accept the previous key; 0 if it leaked.", min=0, max=2160)
    ] = 168,
) -> None:
    """Create a new key. Connected agents get it immediately, signed by the previous one, others when they connect."""
    from wallwatch_backend.hosts.command_keys import service

    signer = _signer()

    async def work(database: Database) -> str:
        async with database.write() as session:
            return (await service.rotate(session, signer, actor(), None, int(overlap_hours * 3600))).kid

    typer.echo(f"The key is now {run(work)}. `wallwatch keys list` lists the hosts whose agents do not trust it yet.")


@app.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """List the keys, newest first, and the hosts whose agents do not trust the current one yet."""
    from wallwatch_backend.hosts.command_keys import service

    signer = _signer()

    async def work(database: Database) -> CommandKeys:
        async with database.read() as session:
            return await service.list_keys(session, signer)

    keys = run(work)
    if as_json:
        echo_json(keys)
        return
    for key in keys.items:
        typer.echo(f"{key.kid}\t{key.state}\t{expiry(key.not_after)}\ttrusted by {key.agents} agents")
    behind = f"Not trusted yet by: {host_names(keys.behind, keys.behind_total)}"
    typer.echo(behind if keys.behind else "Every agent trusts the current key.")
