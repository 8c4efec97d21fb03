"""Which pod holds which virtual function, from the events of the CNI chain. Pure; event time.

A refused ADD assigns nothing. A DEL releases the function, also one that no longer knows its address; a boot of the host releases all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from wallwatch.domain.telemetry.shared_text import shared_text


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
    """Holders by host and PCI address of the function. `changed` has the hosts that changed since it was last emptied.

    Names that come again with events of other pods are kept once. What is kept of a function does not grow with the number of its pods.
    """

    def __init__(self) -> None:
        self._hosts: dict[str, dict[str, Holder | int]] = {}
        """Of each function its holder, or when it was released: an older ADD that arrives late does not assign it again."""
        self._booted_us: dict[str, int] = {}
        self.changed: set[str] = set()

    def hear(self, at_us: int, host: str, pci: str, kind: str, fields: Mapping[str, Any]) -> None:
        """Apply one event; the same event again, or an older one after a newer one, changes nothing."""
        host = shared_text(host)
        devices = self._hosts.get(host)
        if devices is None:
            devices = self._hosts[host] = {}
        device = fields.get("device")
        if kind == "cni_add":
            if isinstance(device, str) and device and fields.get("result") != "refused":
                self._give(at_us, host, devices, device, pci, fields)
        elif kind == "host_booted":
            self._booted_us[host] = max(at_us, self._booted_us.get(host, 0))
            for one in [name for name, known in devices.items() if isinstance(known, Holder) and known.since_us < at_us]:
                self._take(at_us, host, devices, one)
        elif isinstance(device, str) and device:
            self._take(at_us, host, devices, device)
        else:
            attached = _text(fields, "container"), _text(fields, "interface")
            for one in [name for name, known in devices.items() if isinstance(known, Holder) and known[3:5] == attached]:
                self._take(at_us, host, devices, one)

    def _give(self, at_us: int, host: str, devices: dict[str, Holder | int], device: str, pci: str, fields: Mapping[str, Any]) -> None:
        known = devices.get(device, 0)
        since = known.since_us if isinstance(known, Holder) else known
        if at_us > max(since, self._booted_us.get(host, 0)):
            # Pods and containers come and go, and few events have the same: their names are not kept for others.
            pod, container = _text(fields, "pod"), _text(fields, "container")
            interface, slo = (shared_text(_text(fields, name)) for name in ("interface", "slo"))
            devices[shared_text(device)] = Holder(at_us, shared_text(pci), pod, container, interface, slo)
            self.changed.add(host)

    def _take(self, at_us: int, host: str, devices: dict[str, Holder | int], device: str) -> None:
        known = devices.get(device, 0)
        if not isinstance(known, Holder):
            devices[shared_text(device)] = max(at_us, known)
        elif known.since_us < at_us:
            devices[device] = at_us
            self.changed.add(host)

    def of_host(self, host: str) -> Mapping[str, Holder]:
        """Holders of a host's functions by PCI address."""
        return {device: known for device, known in self._hosts.get(host, {}).items() if isinstance(known, Holder)}

    def held(self, host: str, device: str) -> Holder | None:
        """The holder of one function."""
        known = self._hosts.get(host, {}).get(device)
        return known if isinstance(known, Holder) else None

    def forget(self, before_us: int) -> list[tuple[str, str]]:
        """Forget when functions were released before this time: to be called when no older event can arrive any more.

        Returns the functions, each with its host.
        """
        forgotten = [
            (host, device)
            for host, devices in self._hosts.items()
            for device, known in devices.items()
            if isinstance(known, int) and known < before_us
        ]
        for host, device in forgotten:
            del self._hosts[host][device]
        self._booted_us = {host: at_us for host, at_us in self._booted_us.items() if at_us >= before_us}
        for host in [host for host, devices in self._hosts.items() if not devices and host not in self._booted_us]:
            del self._hosts[host]
        return forgotten


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
