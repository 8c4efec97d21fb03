"""Command keys on one connection: which the agent trusts, and the introductions of newer keys (docs/contracts.md,
"Backend ↔ agent")."""

from opentelemetry._opamp.proto import opamp_pb2

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.hosts.command_keys import service as command_keys
from wallwatch_backend.hosts.command_keys.signing import COMMAND_CAPABILITY
from wallwatch_backend.hosts.connections import framing
from wallwatch_backend.hosts.connections.capabilities import AgentLink, CustomMessage
from wallwatch_backend.kit.database import Database

_MAX_KEYS = 16


class KeyIntroduction:
    """Lives as long as the connection."""

    def __init__(self, database: Database, link: AgentLink) -> None:
        self._database, self._link = database, link
        self._trusted: list[str] = []
        self._introduced: set[str] = set()
        self._refusal = ""

    async def take_description(self, message: opamp_pb2.AgentToServer) -> list[str] | None:
        """Take what a description reports about keys; return the trusted ones' ids, None if it lists none."""
        kids = framing.attribute(message, "wallwatch.command_keys")
        if kids is not None:
            self._trusted = framing.storable(kids, 2000).split()[:_MAX_KEYS]
        await self._audit_refusal(framing.storable(framing.attribute(message, "wallwatch.command_key_refused") or "", 500))
        return self._trusted if kids is not None else None

    async def _audit_refusal(self, reason: str) -> None:
        """Audit that the agent refused the introduction of a key, once per reason."""
        if reason and reason != self._refusal:
            host = self._link.host
            await audit.record_apart(self._database, f"agent:{host}", "command_key.introduce", host, outcome="refused", reason=reason)
        self._refusal = reason

    async def send(self) -> None:
        """Introduce the keys that the agent does not trust yet, each once per connection."""
        if not self._trusted:
            return
        async with self._database.read() as session:
            missed = await command_keys.missed_by(session, self._trusted)
        for kid, introduction in missed:
            if kid not in self._introduced:
                self._introduced.add(kid)
                await self._link.send(COMMAND_CAPABILITY, CustomMessage("key", introduction.encode()))
