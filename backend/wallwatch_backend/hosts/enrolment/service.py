"""Lists, enrols and removes agents."""

import base64
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from wallwatch_backend.accounts.audit import repository as audit_log
from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.hosts.addresses import agent_port_opamp_url, opamp_url
from wallwatch_backend.hosts.agents import repository as agents
from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.hosts.certificates import repository as certificate_rows
from wallwatch_backend.hosts.certificates import service as certificates
from wallwatch_backend.hosts.certificates.service import IssuedCertificate
from wallwatch_backend.hosts.certificates.signing import BadCertificateRequest
from wallwatch_backend.hosts.command_keys import service as command_keys
from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.hosts.enrolment import repetition, repository, service_accounts
from wallwatch_backend.hosts.enrolment.errors import BadEnrolmentToken, CertificateRequestNeeded, HostEnrolled, TooManyEnrolments
from wallwatch_backend.hosts.enrolment.models import EnrolmentTokenRow
from wallwatch_backend.hosts.enrolment.schemas import Agent, AgentCertificate, EnrolledAgent, Enrolment, EnrolmentToken
from wallwatch_backend.hosts.enrolment.service_accounts import Pod
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import Database, ReadSession, WriteSession
from wallwatch_backend.kit.hashing import digest, new_secret
from wallwatch_backend.kit.paging import BadCursor, Page, decode_cursor, encode_cursor
from wallwatch_backend.kit.problems import InvalidInput, NotFound
from wallwatch_backend.kit.telemetry_keys import HostKeys
from wallwatch_backend.settings import Settings

ENROL = "agent.enrol"
POD_TOKEN_KEPT = timedelta(days=1)
"""How long a used token of a service account is remembered; the chart's tokens expire after an hour."""


async def list_agents(
    session: ReadSession, *, host: str | None, connected: bool | None, by_end: bool, limit: int, cursor: str | None
) -> Page[Agent]:
    rows = await repository.page(session, host=host, connected=connected, by_end=by_end, after=_after(cursor, by_end), limit=limit + 1)
    items = [_present(row) for row in rows[:limit]]
    return Page(items=items, next_cursor=_cursor(rows[limit - 1], by_end) if len(rows) > limit else None)


def _after(cursor: str | None, by_end: bool) -> tuple[str, ...] | None:
    if cursor is None:
        return None
    if not by_end:
        return (str(decode_cursor(cursor, str)[0]),)
    end, host = (str(part) for part in decode_cursor(cursor, str, str))
    if end == repository.NO_CERTIFICATE:
        return end, host
    try:
        at = datetime.fromisoformat(end)
        if at.tzinfo is None:
            raise BadCursor
        return at.astimezone(UTC).isoformat(), host  # a form that PostgreSQL always reads
    except (ValueError, OverflowError) as error:
        raise BadCursor from error


def _cursor(last: repository.ListedAgent, by_end: bool) -> str:
    if not by_end:
        return encode_cursor(last.agent.host)
    return encode_cursor(last.not_after.isoformat() if last.not_after is not None else repository.NO_CERTIFICATE, last.agent.host)


def _present(row: repository.ListedAgent) -> Agent:
    agent = row.agent
    certificate = None
    if row.issued_at is not None and row.not_after is not None:
        life = row.not_after - row.issued_at
        certificate = AgentCertificate(
            expires_at=row.not_after, renews_at=row.issued_at + life / 2, late_at=row.issued_at + life * repository.LATE_AFTER
        )
    return Agent(
        id=agent.id,
        host=agent.host,
        version=agent.version,
        connected=agent.connected,
        healthy=agent.healthy,
        health_error=agent.health_error,
        enrolled_at=agent.enrolled_at,
        last_seen_at=agent.last_seen_at,
        certificate=certificate,
    )


async def create_enrolment_token(
    session: WriteSession, authority: bytes | None, server_url: str, actor: str, host: str | None, ttl_s: int, address: str | None
) -> EnrolmentToken:
    """Create a token.

    `authority` is the fingerprint that the agent must find in the answer to it, so that it can trust the server on
    first contact.
    """
    token = new_secret("wwe_")
    at = clock.now()
    row = EnrolmentTokenRow(token_hash=digest(token), host=host, created_by=actor, expires_at=at + timedelta(seconds=ttl_s))
    await repository.delete_stale_tokens(session, at - timedelta(days=30))
    await repository.add(session, row)
    audit.record(session, actor, "agent.create_enrolment_token", host or "any host", address=address, ttl_s=ttl_s)
    pinned = "." + base64.urlsafe_b64encode(authority).decode().rstrip("=") if authority is not None else ""
    return EnrolmentToken(token=token + pinned, server_url=server_url, host=host, expires_at=row.expires_at)


async def enrol(
    database: Database,
    settings: Settings,
    signer: CommandSigner,
    cipher: SecretCipher,
    keys: HostKeys,
    body: Enrolment,
    base_url: str,
    address: str | None,
) -> EnrolledAgent:
    """Enrol an agent; its token is used up, but the same request is answered again while nobody has connected with the certificate.

    Refusals are audited, and limited per address like failed sign-ins.
    """
    since = clock.now() - timedelta(seconds=settings.sign_in_window_s)
    async with database.read() as reading:
        failures = await audit_log.count_refused(reading, ENROL, since, address=address)
    if failures >= settings.sign_in_failures_per_address:
        raise TooManyEnrolments(
            f"Try again in {settings.sign_in_window_s} seconds.", headers={"Retry-After": str(settings.sign_in_window_s)}
        )
    certified = settings.agent_port is not None and body.csr is not None
    if settings.agent_port is not None and not certified and not settings.agent_secrets:
        raise CertificateRequestNeeded("The agent sent no CSR: update the agent, or set WALLWATCH_AGENT_SECRETS=true for now.")
    secret = None if certified else new_secret()
    issued: IssuedCertificate | None = None
    try:
        account_token = service_accounts.token_of(body.token)
        pod = await service_accounts.pod_of(settings, account_token) if account_token is not None else None
        async with database.write() as session:
            pinned = await command_keys.pinned_at_enrolment(session, signer)
            kids = [key.kid for key in pinned]
            token = await _token_of(session, body, pod)
            repeated = certified and token.used_at is not None
            if repeated:
                agent_id, issued = await repetition.answer_again(session, token, body, kids, address)
            else:
                agent_id = await _use_token(session, token, body, secret, address, kids)
            if certified and not repeated and body.csr is not None:
                lifetime = timedelta(seconds=settings.agent_certificate_s)
                issued, _ = await certificates.issue(session, cipher, agent_id, body.host, body.csr.encode(), lifetime)
                repetition.remember(token, body.csr, issued)
    except BadCertificateRequest as error:
        raise InvalidInput(f"csr: {error}.") from error
    except (BadEnrolmentToken, HostEnrolled) as error:
        await audit.record_apart(database, f"agent:{body.host}", ENROL, body.host, outcome="refused", address=address, reason=error.code)
        raise
    return EnrolledAgent(
        agent_id=agent_id,
        secret=secret,
        opamp_url=agent_port_opamp_url(settings) if issued is not None else opamp_url(base_url),
        command_keys=pinned,
        certificate=issued.certificate if issued is not None else None,
        authorities=issued.authorities if issued is not None else [],
        telemetry_key=None if repeated else keys.of(body.host),  # a recorded request gives no secret; the agent gets it when it connects
    )


async def _token_of(session: WriteSession, body: Enrolment, pod: Pod | None) -> EnrolmentTokenRow:
    if pod is not None:
        return await _token_of_pod(session, body, pod)
    token = await repository.token_locked(session, digest(body.token.partition(".")[0]), clock.now())  # the rest is for the agent
    if token is None:
        raise BadEnrolmentToken(repetition.NOT_VALID)
    if token.host is not None and token.host != body.host:
        raise BadEnrolmentToken(f"It is for another host than {body.host}.")
    return token


async def _token_of_pod(session: WriteSession, body: Enrolment, pod: Pod) -> EnrolmentTokenRow:
    """The token of a service account counts as an enrolment token for the pod's node: it works once, and a new one comes by itself."""
    if pod.node != body.host:
        raise BadEnrolmentToken(f"The pod {pod.name} runs on {pod.node}, not on {body.host}.")
    at = clock.now()
    hashed = digest(service_accounts.token_of(body.token) or "")
    await repository.lock_host(session, body.host)  # two requests with one token must find one row
    token = await repository.token_locked(session, hashed, at)
    if token is None:
        token = EnrolmentTokenRow(token_hash=hashed, host=pod.node, created_by=f"kubernetes:{pod.name}", expires_at=at + POD_TOKEN_KEPT)
        await repository.add(session, token)
    return token


async def _use_token(
    session: WriteSession, token: EnrolmentTokenRow, body: Enrolment, secret: str | None, address: str | None, kids: list[str]
) -> UUID:
    if token.used_at is not None:
        raise BadEnrolmentToken(repetition.NOT_VALID)
    at = clock.now()
    secret_hash = digest(secret) if secret is not None else None
    await repository.lock_host(session, body.host)
    agent = await agents.by_host_locked(session, body.host)
    if agent is not None and token.host is None:
        # A token for any host must not take over a host that has an agent.
        raise HostEnrolled(f"To replace it, create a token for {body.host}: wallwatch agent enrol --host {body.host}")
    if agent is None:
        agent = AgentRow(id=uuid4(), host=body.host, secret_hash=secret_hash, instance_uid=str(body.instance_uid), version=body.version)
        agent.enrolled_at = at
        await repository.add(session, agent)
    else:
        agent.secret_hash, agent.instance_uid, agent.version = secret_hash, str(body.instance_uid), body.version
        agent.enrolled_at = max(at, agent.enrolled_at + timedelta(microseconds=1))  # later, also by a clock that is behind
        agent.connection_id = None  # the old connection had the old secret or certificate
        await certificate_rows.revoke(session, agent.id, at)
    agent.command_kids = kids
    token.used_at, token.used_by = at, body.host
    audit.record(session, f"agent:{body.host}", ENROL, body.host, address=address, agent_id=str(agent.id), token_by=token.created_by)
    await changes.announce(session, "agent", agent.id, "enrolled", enrolled_at=agent.enrolled_at.isoformat())
    return agent.id


async def delete_agent(session: WriteSession, caller: Caller, agent_id: UUID) -> None:
    host = await agents.delete_one(session, agent_id)
    if host is None:
        raise NotFound(f"There is no agent {agent_id}.")
    audit.record(session, caller.actor, "agent.delete", host, address=caller.address, agent_id=str(agent_id))
    await changes.announce(session, "agent", agent_id, "deleted")
