"""Whose step an event is."""

from __future__ import annotations

from wallwatch.domain.policies.models import Subject
from wallwatch.domain.policies.step import Event

Name = tuple[str, ...]


def subjects_of(kind: Subject, event: Event) -> list[Name]:
    """The subjects of this kind that the event is about; empty if it names none.

    >>> subjects_of("address", Event("cni_add", 0, "h", "", {"address": "10.0.0.1/24, fd00::1/64", "vxlan_network": 7}))
    [('vxlan 7', '10.0.0.1/24'), ('vxlan 7', 'fd00::1/64')]
    """
    fields = event.fields
    if kind == "host":
        return [(event.host,)]
    if kind == "rnic":
        return [(event.host, event.pci)] if event.pci else []
    if kind == "flow":
        return [(event.host, event.pci, fields["flow"])] if fields.get("flow") else []
    if kind == "vf":
        return [(event.host, fields["device"])] if fields.get("device") else []
    if kind == "command":
        return [(event.host, event.pci, fields["command"])] if fields.get("command") else []
    addresses = str(fields.get("address") or "").split(",")
    return [(f"vxlan {fields.get('vxlan_network', 'none')}", address.strip()) for address in addresses if address.strip()]
