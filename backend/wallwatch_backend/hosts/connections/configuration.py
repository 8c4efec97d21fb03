"""The remote configuration on one connection: what the agent runs, what it refused, and what it was offered."""

from typing import Any

import structlog
from opentelemetry._opamp.proto import opamp_pb2
from prometheus_client import Counter

from wallwatch_backend.hosts.connections import framing
from wallwatch_backend.hosts.connections.capabilities import RemoteConfiguration
from wallwatch_backend.kit import clock

log = structlog.get_logger(__name__)
SENT = Counter("wallwatch_agent_configs_sent", "Remote configurations (compiled policies) sent to agents")
REFUSED = Counter("wallwatch_agent_configs_refused", "Remote configurations (compiled policies) that agents refused")


class AgentConfiguration:
    """Lives as long as the connection."""

    def __init__(self, current: RemoteConfiguration, host: str) -> None:
        self._current, self._host = current, host
        self._accepts: bool | None = None  # not reported yet
        self._hash = b""
        self._offered = b""

    def take_report(self, message: opamp_pb2.AgentToServer) -> dict[str, Any]:
        """Take what a message reports about configurations; return the columns of the agent that change."""
        accepted = self._accepts
        if message.capabilities:
            self._accepts = bool(message.capabilities & framing.ACCEPTS_CONFIG)
        changed: dict[str, Any] = {"accepts_config": self._accepts} if self._accepts != accepted else {}
        if message.HasField("remote_config_status"):
            changed |= self._take_status(message.remote_config_status)
        return changed

    def _take_status(self, status: opamp_pb2.RemoteConfigStatus) -> dict[str, Any]:
        """Take the status of the configuration last offered.

        A refused one replaces nothing: the agent still runs the one before.
        """
        hash = framing.storable(status.last_remote_config_hash.decode(errors="replace"), 200)
        if status.status == framing.CONFIG_FAILED:
            REFUSED.inc()
            reason = framing.storable(status.error_message, 500)
            log.error("agent_config_refused", host=self._host, error=reason)
            self._offered = status.last_remote_config_hash  # it would refuse it again
            return {"config_refused_hash": hash, "config_refused_at": clock.now(), "config_error": reason or "no reason given"}
        self._hash = status.last_remote_config_hash
        return {
            "config_hash": hash,
            "config_at": clock.now(),
            "config_refused_hash": None,
            "config_refused_at": None,
            "config_error": None,
        }

    async def offer(self, answer: opamp_pb2.ServerToAgent) -> bool:
        """Add the current configuration to a message if the agent runs another; once per connection.

        Return whether it was added.
        """
        if not self._accepts:
            return False
        config = await self._current.config_file()
        if config.hash in (self._hash, self._offered):
            return False
        framing.add_config(answer, config)
        self._offered = config.hash
        SENT.inc()
        log.info("agent_config_sent", host=self._host, hash=config.hash.decode())
        return True
