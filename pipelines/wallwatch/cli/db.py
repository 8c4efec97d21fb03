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
    """Migrate the database of WALLWATCH_DATABASE_URL to a revision, and grant each role its rights; an empty database works too."""
    import psycopg
    from alembic import command
    from alembic.config import Config

    from wallwatch.store import roles

    file = config or configuration_file()
    alembic = Config(str(file))
    alembic.set_main_option("script_location", str(file.parent / "migrations"))
    settings = Settings()
    alembic.attributes["url"] = settings.database_url
    command.upgrade(alembic, revision)
    typer.echo(f"the database is at {revision}")
    if revision != "head":
        return
    with psycopg.connect(settings.libpq_url, autocommit=True) as connection:
        if roles.exist(connection):
            typer.echo(f"each role has its rights: {roles.apply_grants(connection)} of them")
        else:
            typer.echo("one role does everything here: run `wallwatch db roles` to give each process its own (docs/operating.md)")


@app.command("roles")
def create_roles(
    admin_url: str | None = typer.Option(None, envvar="WALLWATCH_DATABASE_ADMIN_URL", help="the database, signed in as a superuser"),
    passwords: Path | None = typer.Option(
        None,
        envvar="WALLWATCH_DATABASE_PASSWORDS_DIR",
        help="folder with a file for each role, named after it, which holds its password; missing files are created with random ones",
        file_okay=False,
    ),
) -> None:
    """Create the database's roles: one for the owner of the tables, and one for each kind of process with the least that it needs.

    Passwords come from the folder, or from WALLWATCH_DATABASE_PASSWORD_OWNER, _BACKEND, _INGEST, _JOBS and _READER. A role without a
    password keeps the one it has. Repeat it at any time, before `wallwatch db upgrade`. Without a superuser's address it changes nothing.
    """
    if not admin_url:
        typer.echo("no superuser's address (--admin-url or WALLWATCH_DATABASE_ADMIN_URL): the roles stay as they are")
        return
    import psycopg

    from wallwatch.store import roles
    from wallwatch.store.password_files import PasswordProblem
    from wallwatch.store.role_passwords import find

    try:
        found = find(passwords)
    except PasswordProblem as problem:
        raise typer.BadParameter(str(problem)) from problem
    with psycopg.connect(admin_url.replace("postgresql+psycopg://", "postgresql://", 1), autocommit=True) as connection:
        created = roles.create_roles(connection, found)
        roles.own_database(connection)
        moved = roles.take_over(connection)
    for role, meaning in roles.MEANINGS.items():
        state = "created" if role in created else "exists"
        password = "password set" if role in found else "password unchanged"
        typer.echo(f"{role}: {state}, {password} ({meaning})")
    if moved:
        typer.echo(f"{moved} tables, views and functions have a new owner: {roles.DatabaseRole.owner}")
    without = [role for role in created if role not in found]
    if without:
        raise typer.BadParameter(
            f"no password, so nobody can sign in: {', '.join(without)}. Give --passwords, or the environment variables"
        )
