"""`wallwatch agent`: agents on hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wallwatch_backend.cli.running import actor, checked, fail, group, run
from wallwatch_backend.cli.text import AsJson, echo_json, expiry, host_names

if TYPE_CHECKING:
    from datetime import datetime

    from wallwatch_backend.hosts.agents.models import AgentRow
    from wallwatch_backend.hosts.certificates.schemas import AgentAuthorities
    from wallwatch_backend.kit.cipher import SecretCipher
    from wallwatch_backend.kit.database import Database, WriteSession
    from wallwatch_backend.settings import Settings

app = group("Agents on hosts.")


@app.command("enrol")
def enrol(
    host: Annotated[str | None, typer.Option(help="The only host that can use the token; it may replace the host's agent.")] = None,
    ttl: Annotated[int, typer.Option(help="Seconds until the token expires.", min=60, max=30 * 86400)] = 3600,
) -> None:
    """Create a token with which one agent can enrol, and print it."""
    from wallwatch_backend.hosts.enrolment import service
    from wallwatch_backend.kit.text import HostName
    from wallwatch_backend.settings import Settings

    host_name = checked(HostName, host, "The host name") if host is not None else None
    settings = Settings()

    async def work(database: Database) -> str:
        async with database.write() as session:
            authority = await _authority(session, settings) if settings.agent_port is not None else None
            url = str(settings.agent_url or settings.public_url or "")
            return (await service.create_enrolment_token(session, authority, url, actor(), host_name, ttl, None)).token

    typer.echo(run(work))


def _cipher(settings: Settings) -> SecretCipher:
    from wallwatch_backend.kit.cipher import SecretCipher

    if not settings.secrets_dir.is_dir():
        raise fail(f"{settings.secrets_dir} does not exist. Run this where the backend runs, or set WALLWATCH_SECRETS_DIR.")
    try:
        return SecretCipher.load(settings.secrets_dir)
    except OSError as error:
        raise fail(f"The server's secrets cannot be read: {error}") from error


async def _authority(session: WriteSession, settings: Settings) -> bytes | None:
    """Return the fingerprint for a token; create the authority if the backend has not, with the same secrets."""
    from wallwatch_backend.hosts.certificates import service

    await service.ensure(session, _cipher(settings))
    return await service.pin(session)


@app.command("rotate-authority")
def rotate_authority(
    overlap_hours: Annotated[
        float,
        typer.Option(
            help="Hours for which the previous authority is still trusted; 0 if its key leaked: all agents must then enrol again.",
            min=0,
            max=8760,
        ),
    ] = 336,
) -> None:
    """Create a new authority for the certificates of agents.

    Connected agents get its certificates immediately, others when they connect.
    """
    from wallwatch_backend.hosts.certificates import service
    from wallwatch_backend.settings import Settings

    cipher = _cipher(Settings())

    async def work(database: Database) -> str:
        async with database.write() as session:
            return await service.rotate(session, cipher, actor(), None, int(overlap_hours * 3600))

    typer.echo(f"The authority is now {run(work)}. `wallwatch agent authorities` lists the hosts that have no certificate of it yet.")


@app.command("authorities")
def list_authorities(as_json: AsJson = False) -> None:
    """List the authorities of agents, newest first, and the hosts that have no certificate of the current one."""
    from wallwatch_backend.hosts.certificates import service

    async def work(database: Database) -> AgentAuthorities:
        async with database.read() as session:
            return await service.list_authorities(session)

    authorities = run(work)
    if as_json:
        echo_json(authorities)
        return
    for authority in authorities.items:
        typer.echo(f"{authority.fingerprint}\t{authority.state}\t{expiry(authority.not_after)}\t{authority.agents} agents")
    if not authorities.items:
        typer.echo("No authorities: WALLWATCH_AGENT_PORT is not set, so agents authenticate with secrets.")
    elif authorities.behind:
        typer.echo(f"No certificate of the current one yet: {host_names(authorities.behind, authorities.behind_total)}")
    else:
        typer.echo("Every agent has a certificate of the current one.")


@app.command("list")
def list_agents(as_json: AsJson = False) -> None:
    """List the enrolled agents: host, state, version, last seen, and the expiry of their certificate."""
    from wallwatch_backend.hosts.enrolment import repository

    async def work(database: Database) -> list[tuple[AgentRow, datetime | None]]:
        async with database.read() as session:
            return [(row, not_after) for row, _, not_after in await repository.every_agent(session)]

    found = run(work)
    if as_json:
        echo_json([_as_json(row, not_after) for row, not_after in found])
        return
    for row, not_after in found:
        seen = row.last_seen_at.isoformat(timespec="seconds") if row.last_seen_at else "never"
        credentials = f"certificate {expiry(not_after)}" if not_after else "secret"
        state = "connected" if row.connected else "disconnected"
        typer.echo(f"{row.host}\t{state}\t{_health(row)}\t{row.version or '?'}\t{seen}\t{credentials}")


def _as_json(agent: AgentRow, not_after: datetime | None) -> dict[str, object]:
    return {
        "host": agent.host,
        "connected": agent.connected,
        "healthy": agent.healthy,
        "health_error": agent.health_error,
        "version": agent.version,
        "last_seen_at": agent.last_seen_at.isoformat() if agent.last_seen_at is not None else None,
        "certificate_expires_at": not_after.isoformat() if not_after is not None else None,
    }


def _health(agent: AgentRow) -> str:
    if agent.healthy is None:
        return "health unknown"
    return "healthy" if agent.healthy else f"unhealthy: {agent.health_error or 'no reason given'}"
