"""`wallwatch agent`, `audit`, `keys`, `token`, `user`: administration on the database itself, for when nobody can sign in yet."""

import asyncio
import getpass
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from pydantic import TypeAdapter, ValidationError
from sqlalchemy.exc import OperationalError, ProgrammingError

from wallwatch_backend.agents import repository as agents
from wallwatch_backend.agents import service as agent_service
from wallwatch_backend.audit import verify as audit_log
from wallwatch_backend.certificates import service as certificates
from wallwatch_backend.certificates.schemas import AgentAuthorities
from wallwatch_backend.command_keys import service as command_keys
from wallwatch_backend.command_keys.schemas import CommandKeys
from wallwatch_backend.kit.access import Role
from wallwatch_backend.kit.database import Database, WriteSession
from wallwatch_backend.kit.problems import WallwatchError
from wallwatch_backend.kit.text import HostName, Line
from wallwatch_backend.remedies.signing import FIRST_KEY, CommandSigner
from wallwatch_backend.settings import Settings
from wallwatch_backend.tokens import service as tokens
from wallwatch_backend.tokens.schemas import NewToken
from wallwatch_backend.users import service as users
from wallwatch_backend.users.passwords import hash_now
from wallwatch_backend.users.schemas import Password, Username
from wallwatch_backend.webhooks.cipher import SecretCipher

agent_app = typer.Typer(help="Agents on hosts.", no_args_is_help=True)
keys_app = typer.Typer(help="Keys that sign commands to agents.", no_args_is_help=True)
audit_app = typer.Typer(help="The audit log.", no_args_is_help=True)
token_app = typer.Typer(help="API tokens.", no_args_is_help=True)
user_app = typer.Typer(help="Local accounts.", no_args_is_help=True)

T = TypeVar("T")
_ALL_HOSTS = 100_000


@audit_app.callback()
@keys_app.callback()
@token_app.callback()
@user_app.callback()
def _group() -> None:
    # Without a callback an application with one command would be that command, and `wallwatch token create` would not exist.
    return


def _fail(text: str) -> typer.Exit:
    typer.echo(text, err=True)
    return typer.Exit(1)


def _run(work: Callable[[Database], Awaitable[T]]) -> T:
    """Do something with the database, and say plainly what to do when it cannot be done."""

    async def go() -> T:
        database = Database(Settings())
        try:
            return await work(database)
        finally:
            await database.dispose()

    try:
        return asyncio.run(go())
    except WallwatchError as error:
        raise _fail(f"{error.title}. {error.detail}") from error
    except OperationalError as error:
        raise _fail(f"The database does not answer; is WALLWATCH_DATABASE_URL right? {str(error.orig).splitlines()[0]}") from error
    except ProgrammingError as error:
        raise _fail(f"The database lacks tables: run `wallwatch db upgrade` first. {str(error.orig).splitlines()[0]}") from error


def _checked(kind: object, value: str, what: str) -> str:
    try:
        return str(TypeAdapter(kind).validate_python(value))
    except ValidationError as error:
        raise _fail(f"{what} is not acceptable: {error.errors()[0]['msg']}") from error


def _who() -> str:
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a container's user may have no name
        return "cli"


@agent_app.command("enrol")
def enrol(
    host: Annotated[str | None, typer.Option(help="The token works for this host only, and may replace its agent.")] = None,
    ttl: Annotated[int, typer.Option(help="Seconds until the token expires.", min=60, max=30 * 86400)] = 3600,
) -> None:
    """Print a token with which one agent can enrol, once."""
    checked = _checked(HostName, host, "The host name") if host is not None else None
    settings = Settings()

    async def work(database: Database) -> str:
        async with database.write() as session:
            authority = await _authority(session, settings) if settings.agent_port is not None else None
            url = str(settings.agent_url or settings.public_url or "")
            return (await agent_service.create_enrolment_token(session, authority, url, _who(), checked, ttl, None)).token

    typer.echo(_run(work))


def _cipher(settings: Settings) -> SecretCipher:
    if not settings.secrets_dir.is_dir():
        raise _fail(f"{settings.secrets_dir} is not there; run this where the backend runs, or set WALLWATCH_SECRETS_DIR.")
    try:
        return SecretCipher.load(settings.secrets_dir)
    except OSError as error:
        raise _fail(f"The server's secrets cannot be read: {error}") from error


async def _authority(session: WriteSession, settings: Settings) -> bytes | None:
    """What a token says of the authority; made here when the backend has not come to it yet, with the same secrets."""
    await certificates.ensure(session, _cipher(settings))
    return await certificates.pin(session)


@agent_app.command("rotate-authority")
def rotate_authority(
    overlap_hours: Annotated[
        float,
        typer.Option(
            help="Hours for which the one before is still trusted; 0 when others know its key: then enrol all agents again.",
            min=0,
            max=8760,
        ),
    ] = 336,
) -> None:
    """Make a new authority for the certificates of agents. Connected agents get certificates of it at once, and others when they come."""
    cipher = _cipher(Settings())

    async def work(database: Database) -> str:
        async with database.write() as session:
            return await certificates.rotate(session, cipher, _who(), None, int(overlap_hours * 3600))

    typer.echo(f"The authority is now {_run(work)}. `wallwatch agent authorities` says which agents have certificates of it.")


@agent_app.command("authorities")
def list_authorities() -> None:
    """Print who signs the certificates of agents, newest first, and the hosts whose agents have none of the current one."""

    async def work(database: Database) -> AgentAuthorities:
        async with database.read() as session:
            return await certificates.list_authorities(session)

    found = _run(work)
    for one in found.items:
        end = f"until {one.not_after.isoformat(timespec='seconds')}" if one.not_after else "no end"
        typer.echo(f"{one.fingerprint}\t{one.state}\t{end}\t{one.agents} agents")
    if not found.items:
        typer.echo("There is none: WALLWATCH_AGENT_PORT is not set, so that agents show secrets.")
    elif found.behind:
        more = f" and {found.behind_total - len(found.behind)} more" if found.behind_total > len(found.behind) else ""
        typer.echo(f"Not yet with: {', '.join(found.behind)}{more}")
    else:
        typer.echo("Every agent has a certificate of the current one.")


@agent_app.command("list")
def list_agents() -> None:
    """Print the enrolled agents: host, state, version, last seen, and until when their certificate is good."""

    async def work(database: Database) -> list[str]:
        async with database.read() as session:
            rows = await agents.page(session, host=None, connected=None, by_end=False, after=None, limit=_ALL_HOSTS)
        lines = []
        for row, _, not_after in rows:
            health = (
                "health unknown"
                if row.healthy is None
                else "healthy"
                if row.healthy
                else f"unhealthy: {row.health_error or 'no reason given'}"
            )
            seen = row.last_seen_at.isoformat(timespec="seconds") if row.last_seen_at else "never"
            shows = f"certificate until {not_after.isoformat(timespec='seconds')}" if not_after else "secret"
            lines.append(f"{row.host}\t{'connected' if row.connected else 'disconnected'}\t{health}\t{row.version or '?'}\t{seen}\t{shows}")
        return lines

    for line in _run(work):
        typer.echo(line)


@audit_app.command("verify")
def verify_audit(
    anchor: Annotated[str | None, typer.Option(help="SEQ:HASH that an earlier run printed; finds an end that was cut off.")] = None,
) -> None:
    """Recompute the audit log's chain of hashes. Exit code 1, and the first broken row, when something was changed or removed."""
    try:
        known = audit_log.Anchor.parse(anchor) if anchor is not None else None
    except ValueError as error:
        raise _fail(f"{error}.") from error

    async def work(database: Database) -> audit_log.Verified | audit_log.Broken:
        async with database.read() as session:
            return await audit_log.verify(session, known)

    found = _run(work)
    if isinstance(found, audit_log.Broken):
        raise _fail(f"BROKEN after {found.held} good links: {found.why}")
    typer.echo(f"The audit log is whole: {found.seq} links. Keep this anchor outside the database:\n{found.seq}:{found.hash.hex()}")


def _signer() -> CommandSigner:
    """The server's first key, and what the later ones are encrypted with; never made here, since the server would have others."""
    secrets = Settings().secrets_dir
    if not (secrets / FIRST_KEY).is_file():
        raise _fail(f"{secrets} has no {FIRST_KEY}; run this where the backend runs, or set WALLWATCH_SECRETS_DIR.")
    try:
        return CommandSigner.load(secrets)
    except OSError as error:
        raise _fail(f"The server's secrets cannot be read: {error}") from error


@keys_app.command("rotate")
def rotate_keys(
    overlap_hours: Annotated[
        float, typer.Option(help="Hours for which agents still accept the key before; 0 when others know it.", min=0, max=2160)
    ] = 168,
) -> None:
    """Make a new key. Connected agents get it at once, signed by the one before, and others when they come."""
    signer = _signer()

    async def work(database: Database) -> str:
        async with database.write() as session:
            return (await command_keys.rotate(session, signer, _who(), None, int(overlap_hours * 3600))).kid

    typer.echo(f"The key is now {_run(work)}. `wallwatch keys list` says which agents trust it.")


@keys_app.command("list")
def list_keys() -> None:
    """Print the keys, newest first, and the hosts whose agents do not trust the current one yet."""
    signer = _signer()

    async def work(database: Database) -> CommandKeys:
        async with database.read() as session:
            return await command_keys.list_keys(session, signer)

    found = _run(work)
    for key in found.items:
        end = f"until {key.not_after.isoformat(timespec='seconds')}" if key.not_after else "no end"
        typer.echo(f"{key.kid}\t{key.state}\t{end}\ttrusted by {key.agents} agents")
    more = f" and {found.behind_total - len(found.behind)} more" if found.behind_total > len(found.behind) else ""
    typer.echo(f"Not yet with: {', '.join(found.behind)}{more}" if found.behind else "Every agent trusts the current key.")


@token_app.command("create")
def create_token(
    name: Annotated[str, typer.Option(help="What the token is for.")],
    role: Annotated[Role, typer.Option(help="What it may do.")] = Role.viewer,
    ttl_days: Annotated[int | None, typer.Option(help="Days until it expires; never when left out.", min=1, max=3650)] = None,
) -> None:
    """Print a new API token."""
    checked = _checked(Line, name, "The name")

    async def work(database: Database) -> str:
        async with database.write() as session:
            return (await tokens.create_token(session, _who(), NewToken(name=checked, role=role, ttl_days=ttl_days), None)).token

    typer.echo(_run(work))


@user_app.command("create")
def create_user(
    username: Annotated[str, typer.Argument(help="Lower-case name.")],
    role: Annotated[Role, typer.Option(help="What the account may do.")] = Role.viewer,
    password_file: Annotated[Path | None, typer.Option(help="File with the password in its first line; `-` reads standard input.")] = None,
) -> None:
    """Create a local account. Without --password-file the password is asked for."""
    name = _checked(Username, username, "The user name")
    password = _checked(Password, _read_password(password_file), "The password")
    hashed = hash_now(password)

    async def work(database: Database) -> None:
        async with database.write() as session:
            await users.add_user(session, _who(), name, hashed, role)

    _run(work)
    typer.echo(f"Created {name} ({role}).")


def _read_password(file: Path | None) -> str:
    if file is None:
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    if str(file) == "-":
        return sys.stdin.readline().rstrip("\r\n")
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise _fail(f"{file} cannot be read: {error.strerror}") from error
    if not lines:
        raise _fail(f"{file} is empty; put the password in its first line.")
    return lines[0]
