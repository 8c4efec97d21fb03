"""Which upgrade would fix the cause of an incident. It is a recommendation for a ticket: Wallwatch never upgrades anything."""

from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, Field

from wallwatch.domain.catalogue import load
from wallwatch.domain.hypotheses.versions import Identity, comparable, repaired_by, version


class RnicIdentity(Protocol):
    """The part of a finding that identifies its RNIC and versions."""

    host: str
    pci: str
    model: str
    driver: str
    fw_ver: str


class Upgrade(BaseModel):
    """An upgrade that fixes the most likely cause, as text for a ticket."""

    cause: str
    model: str
    driver: str
    fw_ver: str = Field(description="Installed firmware")
    firmware_from: str | None = Field(description="First firmware known to fix the cause; null: ask the vendor")
    hosts: list[str] = Field(description="Hosts of the incident with this model and firmware; at most 100")
    title: str
    text: str = Field(description="Sentences for a ticket")


_MAX_HOSTS = 100


def upgrade_for(top_cause: str | None, lead: RnicIdentity | None, findings: Sequence[RnicIdentity]) -> Upgrade | None:
    """Recommend an upgrade if vendors have fixed the most likely cause and the installed version is not known to have the fix.

    >>> from types import SimpleNamespace
    >>> rnic = SimpleNamespace(host="h1", pci="0000:3b:00.0", model="CX-6", driver="mlx5_core", fw_ver="20.35.1012")
    >>> upgrade_for("C5", rnic, [rnic]).title
    'Upgrade the firmware of CX-6 to 20.41.1000 or later'
    >>> rnic.fw_ver = "22.36.1010"  # a ConnectX-6 Dx: its family's first repaired version is unknown
    >>> upgrade_for("C5", rnic, [rnic]).title
    'Upgrade driver and firmware of CX-6'
    >>> upgrade_for("C6", rnic, [rnic]) is None
    True
    """
    cause = load.causes().get(top_cause or "")
    if cause is None or not cause.settled_by_upgrade or lead is None:
        return None
    if repaired_by(cause, Identity(lead.model, lead.driver, lead.fw_ver)):
        return None
    fixes = (fix.firmware_from for fix in cause.fixed_in if lead.model in fix.models or not fix.models)
    comparables = (fix for fix in fixes if fix is not None and comparable(lead.model, lead.fw_ver, fix))
    first_fixed = min(comparables, key=version, default=None)
    same = sorted({finding.host for finding in findings if (finding.model, finding.fw_ver) == (lead.model, lead.fw_ver)} | {lead.host})
    what = f"the firmware of {lead.model}" if lead.model and first_fixed else f"driver and firmware of {lead.model or 'the RNIC'}"
    title = f"Upgrade {what}" + (f" to {first_fixed} or later" if first_fixed else "")
    text = (
        f"{title}: the most likely cause is {cause.id}, {cause.title[:1].lower()}{cause.title[1:]}, which vendors have fixed. "
        f"Installed: firmware {lead.fw_ver or 'unknown'}, driver {lead.driver or 'unknown'}, on {len(same)} "
        f"{'host' if len(same) == 1 else 'hosts'} of this incident ({', '.join(same[:5])}{', ...' if len(same) > 5 else ''}). "
        "Drain the hosts first: the upgrade resets the RNIC. Wallwatch does not upgrade anything itself."
    )
    return Upgrade(
        cause=cause.id,
        model=lead.model,
        driver=lead.driver,
        fw_ver=lead.fw_ver,
        firmware_from=first_fixed,
        hosts=same[:_MAX_HOSTS],
        title=title,
        text=text,
    )
