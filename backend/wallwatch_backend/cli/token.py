"""`wallwatch token`: API tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wallwatch_backend.cli.running import actor, checked, fail, group, run
from wallwatch_backend.cli.text import AsJson, echo_json, expiry
from wallwatch_backend.kit.roles import Role, TokenScope

if TYPE_CHECKING:
    from wallwatch_backend.accounts.tokens.schemas import Token
    from wallwatch_backend.kit.database import Database

app = group("API tokens.")


@app.command("create")
def create_token(
    name: Annotated[str, typer.Option(help="What the token is for.")],
    owner: Annotated[str, typer.Option(help="User name of the account that it belongs to; the token ends with it.")],
    role: Annotated[Role, typer.Option(help="What it may do, at most its owner's role.")] = Role.viewer,
    scope: Annotated[list[TokenScope] | None, typer.Option(help="Narrows the role; may be repeated. All by default.")] = None,
    host: Annotated[list[str] | None, typer.Option(help="The only host that it may use; may be repeated.")] = None,
    rack: Annotated[list[str] | None, typer.Option(help="The only rack whose hosts it may use; may be repeated.")] = None,
    ttl_days: Annotated[int, typer.Option(help="Days until it expires.", min=1, max=3650)] = 90,
    no_expiry: Annotated[bool, typer.Option("--no-expiry", help="The token never expires.")] = False,
) -> None:
    """Create an API token and print it. It is shown only now."""
    from pydantic import ValidationError

    from wallwatch_backend.accounts.tokens import service
    from wallwatch_backend.accounts.tokens.schemas import NewToken
    from wallwatch_backend.kit.text import Line

    limited = bool(host or rack)
    scopes = scope or [each for each in TokenScope if not (limited and each is TokenScope.admin)]
    try:
        token = NewToken(
            name=checked(Line, name, "The name"),
            role=role,
            scopes=scopes,
            hosts=host or [],
            racks=rack or [],
            ttl_days=None if no_expiry else ttl_days,
        )
    except ValidationError as error:
        raise fail(f"The token is invalid: {error.errors()[0]['msg']}") from error

    async def work(database: Database) -> str:
        async with database.write() as session:
            return (await service.create_for(session, actor(), owner, token)).token

    typer.echo(run(work))


@app.command("list")
def list_tokens(as_json: AsJson = False) -> None:
    """List the tokens that have not expired: id, name, owner, state, role, scopes, limits, expiry and last use."""
    from wallwatch_backend.accounts.tokens import service

    async def work(database: Database) -> list[Token]:
        tokens: list[Token] = []
        cursor: str | None = None
        async with database.read() as session:
            while True:
                page = await service.list_tokens(session, 200, cursor)
                tokens += page.items
                cursor = page.next_cursor
                if cursor is None:
                    return tokens

    found = run(work)
    if as_json:
        echo_json(found)
        return
    for token in found:
        typer.echo(_line(token))


def _line(token: Token) -> str:
    limits = [*(f"host {host}" for host in token.hosts), *(f"rack {rack}" for rack in token.racks)]
    used = "never used"
    if token.last_used_at is not None:
        used = f"used {token.last_used_at.isoformat(timespec='seconds')} from {token.last_used_address or 'an unknown address'}"
    return "\t".join(
        (
            str(token.id),
            token.name,
            token.owner or "no owner",
            token.state.replace("_", " "),
            str(token.role),
            ",".join(token.scopes),
            ", ".join(limits) or "all hosts",
            expiry(token.expires_at),
            used,
        )
    )


@app.command("revoke")
def revoke_token(token: Annotated[str, typer.Argument(help="Its id, or its name or prefix where only one token has it.")]) -> None:
    """Revoke a token immediately, and end its open streams."""
    from wallwatch_backend.accounts.tokens import repository, service

    async def work(database: Database) -> str:
        async with database.write() as session:
            rows = await repository.named(session, token)
            if len(rows) > 1:
                raise fail(f"{len(rows)} tokens match {token!r}; name one by its id: {', '.join(str(row.id) for row in rows)}")
            if not rows:
                raise fail(f"No token has the id, name or prefix {token!r}; `wallwatch token list` shows them.")
            return await service.revoke(session, actor(), rows[0].id)

    typer.echo(f"Revoked {run(work)}.")
