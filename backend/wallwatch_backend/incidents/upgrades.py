"""Which upgrade would settle an incident. It is a recommendation for a ticket: Wallwatch never upgrades anything."""

from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, Field

from wallwatch.domain.catalogue import load
from wallwatch.domain.hypotheses.versions import Identity, repaired_by, version


class OnRnic(Protocol):
    """The part of a finding that names its card."""

    host: str
    pci: str
    model: str
    driver: str
    fw_ver: str


class Upgrade(BaseModel):
    """An upgrade that settles the most likely cause, to be put into a ticket."""

    cause: str
    model: str
    driver: str
    fw_ver: str = Field(description="The firmware that is installed")
    firmware_from: str | None = Field(description="The cause is known to be repaired from this firmware on; null: ask the vendor")
    hosts: list[str] = Field(description="Hosts of the incident whose RNICs have it; at most 100")
    title: str
    text: str = Field(description="Sentences for a ticket")


_MOST_HOSTS = 100


def upgrade_for(top_cause: str | None, lead: OnRnic | None, findings: Sequence[OnRnic]) -> Upgrade | None:
    """Recommend an upgrade, if the most likely cause is one that vendors have repaired, and the installed version is not known to have it.

    >>> from types import SimpleNamespace
    >>> card = SimpleNamespace(host="h1", pci="0000:3b:00.0", model="CX-6", driver="mlx5_core", fw_ver="20.35.1012")
    >>> upgrade_for("C5", card, [card]).title
    'Upgrade the firmware of CX-6 to 20.41.1000 or later'
    >>> upgrade_for("C6", card, [card]) is None
    True
    """
    cause = load.causes().get(top_cause or "")
    if cause is None or not cause.settled_by_upgrade or lead is None:
        return None
    if repaired_by(cause, Identity(lead.model, lead.driver, lead.fw_ver)):
        return None
    fixes = (fix.firmware_from for fix in cause.fixed_in if lead.model in fix.models or not fix.models)
    since = min((fix for fix in fixes if fix is not None), key=version, default=None)
    same = sorted({one.host for one in findings if (one.model, one.fw_ver) == (lead.model, lead.fw_ver)} | {lead.host})
    what = f"the firmware of {lead.model}" if lead.model and since else f"driver and firmware of {lead.model or 'the RNIC'}"
    title = f"Upgrade {what}" + (f" to {since} or later" if since else "")
    text = (
        f"{title}: the most likely cause is {cause.id}, {cause.title[:1].lower()}{cause.title[1:]}, which vendors have repaired. "
        f"Installed: firmware {lead.fw_ver or 'not known'}, driver {lead.driver or 'not known'}, on {len(same)} "
        f"{'host' if len(same) == 1 else 'hosts'} of this incident ({', '.join(same[:5])}{', ...' if len(same) > 5 else ''}). "
        "Drain the hosts first: the RNIC is reset. Wallwatch does not do this by itself."
    )
    return Upgrade(
        cause=cause.id,
        model=lead.model,
        driver=lead.driver,
        fw_ver=lead.fw_ver,
        firmware_from=since,
        hosts=same[:_MOST_HOSTS],
        title=title,
        text=text,
    )
