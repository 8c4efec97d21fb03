"""The telemetry key on one connection: the agent gets it at once, and again when the secret was rotated (docs/contracts.md)."""

import orjson

from wallwatch_backend.hosts.connections.capabilities import AgentLink, CustomMessage
from wallwatch_backend.kit.telemetry_keys import HostKeys

TELEMETRY_CAPABILITY = "com.wallwatch.telemetry.v1"


class TelemetryKeyDelivery:
    """The channel of `TELEMETRY_CAPABILITY`. The key is that of the connection's host, whatever the agent says."""

    def __init__(self, keys: HostKeys, link: AgentLink) -> None:
        self._keys, self._link = keys, link
        self._supported = False
        self._sent: str | None = None

    def on_announced(self, supported: bool) -> None:
        self._supported = supported

    async def offer(self) -> None:
        """Send the key if it is not the one that this connection sent last. Each message of an agent causes a call."""
        if not self._supported:
            return
        key = self._keys.of(self._link.host)
        if key is None or key == self._sent:
            return
        await self._link.send(TELEMETRY_CAPABILITY, CustomMessage("key", orjson.dumps({"telemetry_key": key})))
        self._sent = key

    async def on_message(self, message: CustomMessage) -> bool:
        """Agents send nothing of this capability."""
        return False

    def on_closed(self) -> None:
        """Nothing is held for a connection that ended."""
