"""`wallwatch user`: local accounts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wallwatch_backend.cli.running import actor, checked, fail, group, run
from wallwatch_backend.kit.roles import Role

if TYPE_CHECKING:
    from wallwatch_backend.kit.database import Database

app = group("Local accounts.")


@app.command("create")
def create_user(
    username: Annotated[str, typer.Argument(help="Lower-case name.")],
    role: Annotated[Role, typer.Option(help="What the account may do.")] = Role.viewer,
    password_file: Annotated[Path | None, typer.Option(help="File with the password in its first line; `-` reads standard input.")] = None,
) -> None:
    """Create a local account. Without --password-file this asks for the password."""
    from wallwatch_backend.accounts.users import service
    from wallwatch_backend.accounts.users.passwords import hash_now
    from wallwatch_backend.accounts.users.schemas import Password, Username

    name = checked(Username, username, "The user name")
    password_hash = hash_now(checked(Password, _read_password(password_file), "The password"))

    async def work(database: Database) -> None:
        async with database.write() as session:
            await service.add_user(session, actor(), name, password_hash, role)

    run(work)
    typer.echo(f"Created {name} ({role}).")


def _read_password(file: Path | None) -> str:
    if file is None:
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    if str(file) == "-":
        return sys.stdin.readline().rstrip("\r\n")
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise fail(f"{file} cannot be read: {error.strerror}") from error
    if not lines:
        raise fail(f"{file} is empty; put the password in its first line.")
    return lines[0]
