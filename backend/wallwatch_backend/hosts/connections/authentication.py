"""Authenticates an agent that connects: by the certificate of the TLS handshake, or by the secret of an earlier
enrolment."""

import hmac
from uuid import UUID

from fastapi import WebSocket
from prometheus_client import Counter

from wallwatch_backend.hosts.agents import repository
from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.hosts.certificates import service as certificates
from wallwatch_backend.hosts.certificates.service import CertificateRefused, PresentedCertificate
from wallwatch_backend.hosts.connections.port import PRESENTED
from wallwatch_backend.hosts.connections.shared import Shared
from wallwatch_backend.kit.hashing import digest

REFUSED = Counter("wallwatch_agent_refused", "Connections of agents that were refused, by code", ["code"])
ADMITTED = Counter("wallwatch_agent_admitted", "Connections of agents that were accepted, by kind of credentials", ["by"])

BAD_SECRET, SECRETS_ENDED = "bad_agent_credentials", "agent_secrets_ended"
_ADVICE = {
    "certificate_needed": "Enrol the agent, or update it: this port requires a certificate.",
    SECRETS_ENDED: "Enrol the agent again: this server accepts certificates only (WALLWATCH_AGENT_SECRETS).",
}


class AgentRejected(Exception):
    """The agent's credentials are refused; the message says what to do."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"{why}. {_ADVICE.get(code, 'Enrol the agent again.')}")
        self.code = code


async def authenticate(socket: WebSocket, shared: Shared) -> tuple[AgentRow, PresentedCertificate | None]:
    """Return the agent, and its certificate if it has one.

    The TLS port accepts only the certificate, any other port only the secret.

    Raises
    ------
    AgentRejected
        After the refusal was counted, logged and audited, for the claimed host or for `unknown`.
    """
    address = socket.client.host if socket.client else None
    state = socket.scope.get("state", {})
    try:
        if PRESENTED in state:
            async with shared.database.write() as session:
                agent, presented = await certificates.admit(session, state[PRESENTED])
            ADMITTED.labels("certificate").inc()
            return agent, presented
        agent = await _by_secret(shared, socket.headers.get("authorization", ""))
    except CertificateRefused as refused:
        REFUSED.labels(refused.code).inc()
        answer = AgentRejected(refused.code, str(refused))
        peer = refused.host or address or "unknown"
        shared.rejections.add("agent_refused", peer, refused.code, host=refused.host, why=str(answer), address=address)
        await shared.abuse.report(refused.host or "unknown", refused.code, action="agent.connect", address=address)
        raise answer from refused
    ADMITTED.labels("secret").inc()
    return agent, None


async def _by_secret(shared: Shared, header: str) -> AgentRow:
    if not shared.settings.agent_secrets:
        raise CertificateRefused(SECRETS_ENDED, "it has no certificate")
    scheme, _, credentials = header.partition(" ")
    agent_id, _, secret = credentials.strip().partition(".")
    wrong = CertificateRefused(BAD_SECRET, "its credentials are not valid")
    if scheme.lower() != "bearer" or not secret:
        raise wrong
    try:
        id = UUID(agent_id)
    except ValueError:
        raise wrong from None
    async with shared.database.read() as session:
        agent = await repository.by_id(session, id)
    if agent is None:
        raise wrong
    if agent.secret_hash is None or not hmac.compare_digest(agent.secret_hash, digest(secret)):
        raise CertificateRefused(BAD_SECRET, "its credentials are not valid", agent.host)
    return agent
