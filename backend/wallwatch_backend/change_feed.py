"""Hands the notifications of the database, which come from every replica, to the services that wait for them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import orjson

from wallwatch.store.tables import NOTIFY_CHANNEL
from wallwatch_backend.kit import changes
from wallwatch_backend.kit.listener import Listener
from wallwatch_backend.wiring import Services


class ChangeFeed:
    """Routes changes. `wake_webhooks` is called when the outbox may have something new."""

    def __init__(self, services: Services, wake_webhooks: Callable[[], None]) -> None:
        self._services, self._wake_webhooks = services, wake_webhooks
        self._by_kind: Mapping[str, Callable[[], None]] = {
            "access": services.access.rights_changed,
            "policy": self._policies_changed,
            "command_key": services.connections.command_keys_changed,
            "agent_authority": self._authorities_changed,
        }

    def listener(self) -> Listener:
        """Return the listener that receives the notifications."""
        handlers = {
            NOTIFY_CHANNEL: lambda _: self._services.hub.rows_changed(),
            changes.CHANNEL: self._changed,
            changes.COMMAND_CHANNEL: self._services.remedies.wake,
            changes.DELIVERY_CHANNEL: lambda _: self._wake_webhooks(),
        }
        return Listener(self._services.database.libpq_url, handlers, self._reconnected)

    def _changed(self, payload: str) -> None:
        change: dict[str, Any] = orjson.loads(payload)
        internal = self._by_kind.get(change["kind"])
        if internal is not None:
            internal()
        else:
            self._publish(change)

    def _publish(self, change: dict[str, Any]) -> None:
        """Send a change to the streams of this replica, and end the connections of an agent whose credentials it ended."""
        services = self._services
        if change["kind"] == "incident":
            services.incident_wakeups.notify()
        if "count" in change:
            services.hub.publish(f"{change['kind']}s", {"count": change["count"]})
            return
        services.hub.publish(change["kind"], {"id": change["id"], "state": change["state"]})
        if change["kind"] == "agent" and change["state"] in ("deleted", "enrolled"):
            enrolled_at = change.get("enrolled_at")
            services.connections.drop_agent(change["id"], datetime.fromisoformat(enrolled_at) if enrolled_at else None)
        if change.get("pci"):
            services.hub.cordon_changed(change["host"], change["pci"])

    def _policies_changed(self) -> None:
        self._services.policy_file.changed()
        self._services.connections.configuration_changed()

    def _authorities_changed(self) -> None:
        if self._services.agent_port is not None:
            self._services.agent_port.authorities_changed()
        self._services.connections.authorities_changed()

    def _reconnected(self) -> None:
        """Catch up: notifications may have been lost while the listener was disconnected."""
        self._services.hub.resync_all()
        self._services.hub.rows_changed()
        self._services.incident_wakeups.notify()
        self._services.access.rights_changed()
        self._services.remedies.wake_all()
        self._services.connections.command_keys_changed()
        self._policies_changed()
        self._wake_webhooks()
