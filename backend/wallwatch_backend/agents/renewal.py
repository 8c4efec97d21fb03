"""One connection's part in certificates: tells an agent when to renew, and signs what it asks for (docs/contracts.md, "Backend ↔ agent").

The server says when, because only its clock counts: half of the life is over, the authority is no longer the newest, or the agent still
shows a secret. The agent answers with a request for a new key.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import orjson
import structlog
from opentelemetry._opamp.proto import opamp_pb2
from prometheus_client import Counter

from wallwatch_backend.agents.service import way_in
from wallwatch_backend.certificates import service as certificates
from wallwatch_backend.certificates.making import BadRequestForCertificate
from wallwatch_backend.certificates.service import Shown
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings
from wallwatch_backend.webhooks.cipher import SecretCipher

log = structlog.get_logger(__name__)
ISSUED = Counter("wallwatch_agent_certificates_issued", "Certificates that connected agents were given")

CAPABILITY = "com.wallwatch.certificate.v1"
_REMIND_EVERY = timedelta(seconds=60)
_REMINDERS_IN_A_LIFE = 20
"""A short life, as in tests, is reminded of more often."""


@dataclass(frozen=True)
class Issuer:
    """What signing needs; none where there is no TLS port."""

    cipher: SecretCipher
    settings: Settings

    @property
    def lifetime(self) -> timedelta:
        return timedelta(seconds=self.settings.agent_certificate_s)


class Renewal:
    """Lives as long as the connection. `shown` is None where the agent came with a secret."""

    def __init__(self, database: Database, issuer: Issuer | None, agent_id: UUID, host: str, shown: Shown | None) -> None:
        self._database, self._issuer, self._agent_id, self._host = database, issuer, agent_id, host
        self._shown = shown
        self._able = False
        self._reminded_at: datetime | None = None
        self._asked = False  # nothing is signed that was not asked for

    def hear(self, message: opamp_pb2.AgentToServer) -> None:
        """Take note of whether the agent can renew: those of before certificates cannot."""
        if message.HasField("custom_capabilities"):
            self._able = CAPABILITY in message.custom_capabilities.capabilities

    @property
    def over(self) -> bool:
        """Whether the certificate of this connection has ended, and with it the connection's right."""
        return self._shown is not None and self._shown.not_after <= clock.now()

    async def reminder(self, *, now: bool = False) -> opamp_pb2.CustomMessage | None:
        """The message that asks the agent to renew, when it is time, now and then until it has."""
        if self._issuer is None or not self._able:
            return None
        at, every = clock.now(), min(_REMIND_EVERY, self._issuer.lifetime / _REMINDERS_IN_A_LIFE)
        if not now and self._reminded_at is not None and at - self._reminded_at < every:
            return None
        self._reminded_at = at
        if self._shown is not None:
            async with self._database.read() as session:
                good = await certificates.in_force(session)
            if not good or not self._shown.due(at, good[-1].fingerprint):
                return None
        self._asked = True
        return _message("renew", b"")

    async def answer(self, custom: opamp_pb2.CustomMessage) -> opamp_pb2.CustomMessage | None:
        """Sign what the agent asks for. The host is the connection's; what the request says of it counts nothing."""
        if custom.type != "request" or self._issuer is None or not self._asked:
            return None
        self._asked = False
        try:
            async with self._database.write() as session:
                issued, shown = await certificates.issue(
                    session, self._issuer.cipher, self._agent_id, self._host, custom.data, self._issuer.lifetime
                )
        except BadRequestForCertificate as bad:
            log.warning("agent_bad_certificate_request", host=self._host, reason=str(bad))
            return _message("refused", orjson.dumps({"reason": str(bad)}))
        if self._shown is not None:
            self._shown = shown
        ISSUED.inc()
        log.info("agent_certificate_issued", host=self._host, not_after=shown.not_after.isoformat())
        content = {
            "certificate": issued.certificate,
            "authorities": issued.authorities,
            "opamp_url": way_in(self._issuer.settings),
        }
        return _message("certificate", orjson.dumps(content))


def _message(kind: str, data: bytes) -> opamp_pb2.CustomMessage:
    return opamp_pb2.CustomMessage(capability=CAPABILITY, type=kind, data=data)
