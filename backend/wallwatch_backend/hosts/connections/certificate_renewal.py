"""The certificate on one connection: when to renew it, and the new one (docs/contracts.md, "Backend ↔ agent").

The server says when, because only its clock counts: half of the lifetime has passed, the authority is no longer the
newest, or the agent still authenticates with a secret. The agent answers with a request for a new key.
"""

from datetime import datetime, timedelta
from uuid import UUID

import orjson
import structlog
from prometheus_client import Counter

from wallwatch_backend.hosts.addresses import agent_port_opamp_url
from wallwatch_backend.hosts.certificates import service as certificates
from wallwatch_backend.hosts.certificates.service import PresentedCertificate
from wallwatch_backend.hosts.certificates.signing import BadCertificateRequest
from wallwatch_backend.hosts.connections.capabilities import AgentLink, CustomMessage
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings

log = structlog.get_logger(__name__)
ISSUED = Counter("wallwatch_agent_certificates_issued", "Certificates issued to connected agents")

CERTIFICATE_CAPABILITY = "com.wallwatch.certificate.v1"
_REMIND_EVERY = timedelta(seconds=60)
_REMINDERS_PER_LIFETIME = 20
"""Certificates with a short lifetime, as in tests, are reminded of more often."""


class CertificateRenewal:
    """The channel of `CERTIFICATE_CAPABILITY`. `presented` is None if the agent authenticated with a secret."""

    def __init__(
        self,
        database: Database,
        cipher: SecretCipher,
        settings: Settings,
        link: AgentLink,
        agent_id: UUID,
        presented: PresentedCertificate | None,
    ) -> None:
        self._database, self._cipher, self._settings = database, cipher, settings
        self._link, self._agent_id, self._presented = link, agent_id, presented
        self._lifetime = timedelta(seconds=settings.agent_certificate_s)
        self._supported = False
        self._reminded_at: datetime | None = None
        self._requested = False  # only what was requested is signed

    @property
    def expired(self) -> bool:
        """Return whether the certificate of this connection has expired, and with it the connection's authorization."""
        return self._presented is not None and self._presented.not_after <= clock.now()

    def on_announced(self, supported: bool) -> None:
        self._supported = supported

    async def remind(self, *, now: bool = False) -> None:
        """Request the renewal if it is due; repeat it until the agent has renewed.

        `now` skips the pause since the last request.
        """
        if self._settings.agent_port is None or not self._supported:
            return
        at, interval = clock.now(), min(_REMIND_EVERY, self._lifetime / _REMINDERS_PER_LIFETIME)
        if not now and self._reminded_at is not None and at - self._reminded_at < interval:
            return
        self._reminded_at = at
        if self._presented is not None:
            async with self._database.read() as session:
                authorities = await certificates.in_force(session)
            if not authorities or not self._presented.needs_renewal(at, authorities[-1].fingerprint):
                return
        self._requested = True
        await self._send("renew", b"")

    async def on_message(self, message: CustomMessage) -> bool:
        """Sign what the agent requests. The certificate is for the connection's host, whatever the request names."""
        if message.type != "request":
            return False
        if self._settings.agent_port is None or not self._requested:
            return True
        self._requested = False
        host = self._link.host
        try:
            async with self._database.write() as session:
                issued, presented = await certificates.issue(session, self._cipher, self._agent_id, host, message.data, self._lifetime)
        except BadCertificateRequest as bad:
            log.warning("agent_bad_certificate_request", host=host, reason=str(bad))
            await self._send("refused", orjson.dumps({"reason": str(bad)}))
            return True
        if self._presented is not None:
            self._presented = presented
        ISSUED.inc()
        log.info("agent_certificate_issued", host=host, not_after=presented.not_after.isoformat())
        content = {
            "certificate": issued.certificate,
            "authorities": issued.authorities,
            "opamp_url": agent_port_opamp_url(self._settings),
        }
        await self._send("certificate", orjson.dumps(content))
        return True

    def on_closed(self) -> None:
        """Nothing is held for a connection that ended."""

    async def _send(self, kind: str, data: bytes) -> None:
        await self._link.send(CERTIFICATE_CAPABILITY, CustomMessage(kind, data))
