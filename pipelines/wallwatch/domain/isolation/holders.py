"""Which pod holds which virtual function, from the events of the CNI chain. Pure; event time.

A refused ADD assigns nothing. A DEL releases the function, also one that no longer knows its address; a boot of the host releases all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Holder(NamedTuple):
    """The container that has a function, as its ADD described it."""

    since_us: int
    pci: str
    """PCI address of the RNIC."""
    pod: str
    container: str
    interface: str
    slo: str


class Holders:
    """Holders by host and PCI address of the function. `changed` has the hosts that changed since it was last emptied."""

    def __init__(self) -> None:
        self._hosts: dict[str, dict[str, Holder]] = {}
        self._taken_us: dict[tuple[str, str], int] = {}
        """When a function was released: an older ADD that arrives late does not assign it again."""
        self._booted_us: dict[str, int] = {}
        self.changed: set[str] = set()

    def hear(self, at_us: int, host: str, pci: str, kind: str, fields: Mapping[str, Any]) -> None:
        """Apply one event; the same event again, or an older one after a newer one, changes nothing."""
        devices = self._hosts.setdefault(host, {})
        device = fields.get("device")
        if kind == "cni_add":
            if isinstance(device, str) and device and fields.get("result") != "refused":
                self._give(at_us, host, device, Holder(at_us, pci, *(_text(fields, n) for n in ("pod", "container", "interface", "slo"))))
        elif kind == "host_booted":
            self._booted_us[host] = max(at_us, self._booted_us.get(host, 0))
            for one in [name for name, holder in devices.items() if holder.since_us < at_us]:
                self._take(at_us, host, one)
        elif isinstance(device, str) and device:
            self._take(at_us, host, device)
        else:
            container, interface = _text(fields, "container"), _text(fields, "interface")
            for one in [name for name, holder in devices.items() if (holder.container, holder.interface) == (container, interface)]:
                self._take(at_us, host, one)

    def _give(self, at_us: int, host: str, device: str, holder: Holder) -> None:
        devices = self._hosts[host]
        before = devices.get(device)
        since = max(self._taken_us.get((host, device), 0), self._booted_us.get(host, 0), 0 if before is None else before.since_us)
        if at_us > since:
            devices[device] = holder
            self.changed.add(host)

    def _take(self, at_us: int, host: str, device: str) -> None:
        holder = self._hosts[host].get(device)
        self._taken_us[host, device] = max(at_us, self._taken_us.get((host, device), 0))
        if holder is not None and holder.since_us < at_us:
            del self._hosts[host][device]
            self.changed.add(host)

    def of_host(self, host: str) -> Mapping[str, Holder]:
        """Holders of a host's functions by PCI address."""
        return self._hosts.get(host, {})


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
