"""Broken promises over the fleet."""

from datetime import datetime

from pydantic import BaseModel, Field

from wallwatch_backend.isolation.schemas import LABELS, OWNER, MechanismSeconds, Pod, Seconds, Tenant, VfNumber

BROKEN = "Seconds in which at least one VF of the RNIC suffered"


class VictimSeconds(BaseModel):
    vf: VfNumber
    pod: Pod
    tenant: Tenant
    broken_s: Seconds


class AggressorSeconds(BaseModel):
    vf: VfNumber
    pod: Pod
    tenant: Tenant
    aggressor_s: Seconds


class Pair(BaseModel):
    """Who broke whose promise, and for how long."""

    aggressor_vf: int
    victim_vf: int
    seconds: Seconds


class RnicBreakage(BaseModel):
    host: str
    pci: str
    rack: str | None
    model: str | None
    broken_s: Seconds = Field(description=BROKEN)
    estimated_s: Seconds = Field(description="Part of `broken_s` from samples more than 1.5 s apart, whose whole interval counts")
    last_broken_at: datetime | None
    mechanisms: list[MechanismSeconds] = Field(description="Most seconds first")
    victims: list[VictimSeconds] = Field(description="The ten with the most seconds, most first")
    aggressors: list[AggressorSeconds] = Field(description="The ten with the most seconds, most first")
    pairs: list[Pair] = Field(description="The ten with the most seconds, most first")


class TenantBreakage(BaseModel):
    tenant: Tenant
    vfs: int = Field(description="The most VFs that it held in one minute")
    broken_s: Seconds = Field(description="VF-seconds in which a promise to it was broken")
    aggressor_s: Seconds = Field(description="VF-seconds in which its VFs broke others' promises")
    unknown_s: Seconds = Field(description="VF-seconds without evidence, such as gaps; never counted as kept")
    kept_share: float | None = Field(description="kept / (kept + broken); null without any")


class HostBreakage(BaseModel):
    host: str
    rack: str | None
    rnics: int = Field(description="RNICs of the host with broken seconds")
    broken_s: Seconds = Field(description=f"{BROKEN}, summed over the RNICs of the host")
    last_broken_at: datetime


class VfBreakage(BaseModel):
    """A VF while one pod held it: a pod that moved has a row for each of its VFs."""

    host: str
    pci: str
    vf: VfNumber
    pod: Pod
    owner: str | None = Field(description=OWNER)
    labels: dict[str, str] = Field(description=LABELS)
    tenant: Tenant
    seconds: Seconds = Field(description="Seconds in which a promise to it was broken, or in which it broke those of others")


class FleetIsolation(BaseModel):
    """Broken seconds by RNIC, host, VF and tenant, worst first."""

    since: datetime
    until: datetime
    broken_s: Seconds = Field(description=f"{BROKEN}, summed over all RNICs")
    unknown_s: Seconds = Field(description="VF-seconds without evidence, of all VFs")
    rnics: list[RnicBreakage] = Field(description="RNICs with broken seconds, most first, at most `limit`")
    rnics_total: int = Field(description="RNICs with broken seconds")
    hosts: list[HostBreakage] = Field(description="The 100 hosts with the most broken seconds")
    victims: list[VfBreakage] = Field(description="The 100 VFs that suffered most")
    aggressors: list[VfBreakage] = Field(description="The 100 VFs that broke others' promises longest")
    tenants: list[TenantBreakage] = Field(description="Every tenant that held a VF in the interval, most broken seconds first")
