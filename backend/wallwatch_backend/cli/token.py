"""`wallwatch token`: API tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wallwatch_backend.cli.running import actor, checked, group, run
from wallwatch_backend.kit.roles import Role

if TYPE_CHECKING:
    from wallwatch_backend.kit.database import Database

app = group("API tokens.")


@app.command("create")
def create_token(
    name: Annotated[str, typer.Option(help="What the token is for.")],
    role: Annotated[Role, typer.Option(help="What it may do.")] = Role.viewer,
    ttl_days: Annotated[int | None, typer.Option(help="Days until it expires; never by default.", min=1, max=3650)] = None,
) -> None:
    """Create an API token and print it."""
    from wallwatch_backend.accounts.tokens import service
    from wallwatch_backend.accounts.tokens.schemas import NewToken
    from wallwatch_backend.kit.text import Line

    token = NewToken(name=checked(Line, name, "The name"), role=role, ttl_days=ttl_days)

    async def work(database: Database) -> str:
        async with database.write() as session:
            return (await service.create_token(session, actor(), token, None)).token

    typer.echo(run(work))
