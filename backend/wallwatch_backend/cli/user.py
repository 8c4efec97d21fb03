"""`wallwatch user`: local accounts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wallwatch_backend.cli.running import actor, checked, fail, group, run
from wallwatch_backend.cli.text import AsJson, echo_json
from wallwatch_backend.kit.roles import Role

if TYPE_CHECKING:
    from wallwatch_backend.accounts.users.schemas import UserChange
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


@app.command("list")
def list_users(as_json: AsJson = False) -> None:
    """List accounts: name, role, local or single sign-on, enabled or disabled, last sign-in."""
    from wallwatch_backend.accounts.users import repository

    async def work(database: Database) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        after: str | None = None
        async with database.read() as session:
            while rows := await repository.page(session, after, 500):
                for row in rows:
                    seen = row.last_sign_in_at.isoformat(timespec="seconds") if row.last_sign_in_at is not None else None
                    known = {"username": row.username, "role": str(row.role), "oidc_issuer": row.oidc_issuer}
                    found.append({**known, "disabled": row.disabled, "last_sign_in_at": seen})
                after = rows[-1].username
        return found

    accounts = run(work)
    if as_json:
        echo_json(accounts)
        return
    for one in accounts:
        origin = "local" if one["oidc_issuer"] is None else f"single sign-on ({one['oidc_issuer']})"
        words = [one["username"], one["role"], origin, "disabled" if one["disabled"] else "enabled", one["last_sign_in_at"] or "never"]
        typer.echo("\t".join(map(str, words)))


@app.command("passwd")
def set_password(
    username: Annotated[str, typer.Argument(help="Name of the account.")],
    password_file: Annotated[Path | None, typer.Option(help="File with the password in its first line; `-` reads standard input.")] = None,
) -> None:
    """Set a new password and end the account's sessions."""
    from wallwatch_backend.accounts.users.schemas import Password, UserChange

    password = checked(Password, _read_password(password_file), "The password")
    _change(username, UserChange(password=password))
    typer.echo(f"Set a new password for {username}; its sessions have ended.")


@app.command("disable")
def disable_user(username: Annotated[str, typer.Argument(help="Name of the account.")]) -> None:
    """Disable an account and end its sessions."""
    from wallwatch_backend.accounts.users.schemas import UserChange

    _change(username, UserChange(disabled=True))
    typer.echo(f"Disabled {username}; its sessions have ended.")


@app.command("enable")
def enable_user(username: Annotated[str, typer.Argument(help="Name of the account.")]) -> None:
    """Enable an account that was disabled."""
    from wallwatch_backend.accounts.users.schemas import UserChange

    _change(username, UserChange(disabled=False))
    typer.echo(f"Enabled {username}.")


@app.command("reset-second-factor")
def reset_second_factor(username: Annotated[str, typer.Argument(help="Name of the account.")]) -> None:
    """Turn off the second factor of somebody who lost the authenticator app and the recovery codes."""
    from wallwatch_backend.accounts.second_factor import service
    from wallwatch_backend.accounts.users import repository
    from wallwatch_backend.kit.problems import NotFound

    async def work(database: Database) -> bool:
        async with database.write() as session:
            row = await repository.by_name(session, username)
            if row is None:
                raise NotFound(f"There is no account named {username}; see `wallwatch user list`.")
            return await service.reset(session, actor(), None, row.id)

    typer.echo(f"{username} signs in with the password alone." if run(work) else f"{username} had no second factor.")


def _change(username: str, change: UserChange) -> None:
    from wallwatch_backend.accounts.users import repository, service
    from wallwatch_backend.kit.problems import NotFound

    async def work(database: Database) -> None:
        async with database.write() as session:
            row = await repository.by_name(session, username)
            if row is None:
                raise NotFound(f"There is no account named {username}; see `wallwatch user list`.")
            await service.change_account(session, actor(), None, row.id, change)

    run(work)


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
