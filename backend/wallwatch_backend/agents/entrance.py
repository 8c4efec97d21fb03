"""Who an agent is when it connects: by the certificate of the TLS handshake, or by the secret of a former enrolment."""

import hmac
from uuid import UUID

from fastapi import WebSocket
from prometheus_client import Counter

from wallwatch_backend.agents import repository
from wallwatch_backend.agents.conduct import Conduct
from wallwatch_backend.agents.models import AgentRow
from wallwatch_backend.agents.port import SHOWN
from wallwatch_backend.agents.turned_away import TurnedAway
from wallwatch_backend.certificates import service as certificates
from wallwatch_backend.certificates.service import CertificateRefused, Shown
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.hashing import digest
from wallwatch_backend.settings import Settings

REFUSED = Counter("wallwatch_agent_refused", "Agents that were not let in, by the code of the refusal", ["code"])
ADMITTED = Counter("wallwatch_agent_admitted", "Connections of agents that were let in", ["by"])

BAD_SECRET, SECRETS_ENDED = "bad_agent_credentials", "agent_secrets_ended"
_DO = {
    "certificate_needed": "Enrol the agent, or update it: this port is for agents with certificates.",
    SECRETS_ENDED: "Enrol the agent again: this server takes certificates only (WALLWATCH_AGENT_SECRETS).",
}


class NotLetIn(Exception):
    """The agent has to be turned away."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"{why}. {_DO.get(code, 'Enrol the agent again.')}")
        self.code = code


async def identify(
    socket: WebSocket, database: Database, settings: Settings, conduct: Conduct, turned_away: TurnedAway
) -> tuple[AgentRow, Shown | None]:
    """Return the agent, and its certificate where it has one. On the TLS port nothing but the certificate counts, elsewhere the secret.

    Raises
    ------
    NotLetIn
        After the refusal was counted, logged and audited, by the host that was claimed or as one of nobody known.
    """
    address = socket.client.host if socket.client else None
    state = socket.scope.get("state", {})
    try:
        if SHOWN in state:
            async with database.write() as session:
                agent, shown = await certificates.admit(session, state[SHOWN])
            ADMITTED.labels("certificate").inc()
            return agent, shown
        agent = await _by_secret(database, settings, socket.headers.get("authorization", ""))
    except CertificateRefused as refused:
        REFUSED.labels(refused.code).inc()
        answer = NotLetIn(refused.code, str(refused))
        turned_away.note(
            "agent_refused", refused.host or address or "unknown", refused.code, host=refused.host, why=str(answer), address=address
        )
        await conduct.note(refused.host or "unknown", refused.code, action="agent.connect", address=address)
        raise answer from refused
    ADMITTED.labels("secret").inc()
    return agent, None


async def _by_secret(database: Database, settings: Settings, header: str) -> AgentRow:
    if not settings.agent_secrets:
        raise CertificateRefused(SECRETS_ENDED, "it came without a certificate")
    scheme, _, credentials = header.partition(" ")
    agent_id, _, secret = credentials.strip().partition(".")
    wrong = CertificateRefused(BAD_SECRET, "its credentials do not work")
    if scheme.lower() != "bearer" or not secret:
        raise wrong
    try:
        id = UUID(agent_id)
    except ValueError:
        raise wrong from None
    async with database.read() as session:
        agent = await repository.by_id(session, id)
    if agent is None:
        raise wrong
    if agent.secret_hash is None or not hmac.compare_digest(agent.secret_hash, digest(secret)):
        raise CertificateRefused(BAD_SECRET, "its credentials do not work", agent.host)
    return agent
