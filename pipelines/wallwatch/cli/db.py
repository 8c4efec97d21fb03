"""`wallwatch db ...`: the database's schema."""

from __future__ import annotations

from pathlib import Path

import typer

from wallwatch.settings import Settings

app = typer.Typer(help="The database's schema.", no_args_is_help=True)


def configuration_file() -> Path:
    """`alembic.ini` of the repository: in the current folder or above it, or above this package's source."""
    for folder in (Path.cwd(), *Path.cwd().parents, *Path(__file__).resolve().parents):
        if (folder / "alembic.ini").is_file() and (folder / "migrations" / "env.py").is_file():
            return folder / "alembic.ini"
    raise typer.BadParameter("alembic.ini was not found here or above: run this from the repository, or give its path with --config")


@app.command()
def upgrade(
    revision: str = typer.Argument("head", help="target revision"),
    config: Path | None = typer.Option(None, help="alembic.ini to use", exists=True, dir_okay=False),
) -> None:
    """Migrate the database of WALLWATCH_DATABASE_URL to a revision; an empty database works too."""
    from alembic import command
    from alembic.config import Config

    file = config or configuration_file()
    alembic = Config(str(file))
    alembic.set_main_option("script_location", str(file.parent / "migrations"))
    alembic.attributes["url"] = Settings().database_url
    command.upgrade(alembic, revision)
    typer.echo(f"the database is at {revision}")
