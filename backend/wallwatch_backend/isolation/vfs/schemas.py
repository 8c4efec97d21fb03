"""The VFs of one RNIC with their promises."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from wallwatch_backend.isolation.schemas import (
    LABELS,
    OWNER,
    ROLE,
    Aggressor,
    MechanismName,
    Pod,
    Role,
    Seconds,
    StateName,
    Tenant,
    VfNumber,
    Victim,
)


class Promise(BaseModel):
    """The SLO of a VF: a bandwidth envelope for each direction, and bounds of delay and loss."""

    name: str | None = Field(description="Class; null for an SLO written in the CNI configuration")
    min_mbps: float
    max_mbps: float
    p50_us: float | None
    p99_us: float | None
    loss: float | None = Field(description="Share of packets")
    source: Literal["cni", "rule"] = Field(description="cni: `wallwatch.io/slo` of the CNI configuration; rule: an SLO rule")
    rule: int | None = Field(description="Position of the rule that assigned it, from 0")


class VfIsolation(BaseModel):
    """A VF now. Null: not measured."""

    vf: VfNumber
    pod: Pod
    namespace: str | None
    tenant: Tenant
    slo: Promise | None = Field(description="Null: nothing is promised to it; it can still be an aggressor")
    tx_mbps: float | None = Field(description="Sent, seen from the VF")
    rx_mbps: float | None
    tx_kpps: float | None
    rx_kpps: float | None
    delay_p50_us: float | None
    delay_p99_us: float | None
    dropped_per_s: float | None
    share: float | None = Field(description="Offered load as a share of the RNIC's capacity; 1 is all of it")
    fair_share: float | None
    limit_mbps: float | None = Field(description="Rate limit that the VF has now; null: none")
    state: StateName
    role: Role | None = Field(description=ROLE)
    reason: str | None = Field(description="Why the state is what it is")
    broken_s_today: Seconds = Field(description="Since midnight UTC")
    aggressor_s_today: Seconds


class RnicIsolation(BaseModel):
    host: str
    pci: str
    model: str | None
    port_mbps: float | None
    at: datetime | None = Field(description="Time of the values; null when the RNIC has sent none")
    stale: bool = Field(description="The values are older than three minutes; false where there are none")
    numvfs: int | None = Field(
        description="Virtual functions that exist, by the newest sample of the last hour; null when it is not measured"
    )
    doubt: str | None = Field(description="Why the RNIC is sampled every second; null while it is not")
    mechanism: MechanismName | None = Field(description="What is overloaded now; null while no promise is broken, or undetermined")
    load: float | None = Field(description="Offered load; 1 is what the RNIC can carry")
    broken_s_today: Seconds = Field(description="Seconds since midnight UTC in which at least one VF suffered")
    vfs: list[VfIsolation] = Field(description="By number")


class Cell(BaseModel):
    at: datetime
    state: StateName = Field(description="The worst in the step: broken, then unknown, then kept")
    broken_s: Seconds
    aggressor_s: Seconds


class VfStrip(BaseModel):
    vf: VfNumber
    pod: Pod
    tenant: Tenant
    cells: list[Cell] = Field(description="By time; steps without any data are left out")


class IsolationStrip(BaseModel):
    """One cell per VF and step."""

    since: datetime
    until: datetime
    step_s: int = Field(description="Below 60, cells exist only for steps in which a promise was broken, or whose minute is known")
    vfs: list[VfStrip]


class VfPoint(BaseModel):
    """One step of a VF's history; rates are means, `_max` the largest interval in it."""

    at: datetime
    tx_mbps: float | None
    rx_mbps: float | None
    tx_mbps_max: float | None
    rx_mbps_max: float | None
    tx_kpps: float | None
    rx_kpps: float | None
    delay_p50_us: float | None
    delay_p99_us: float | None
    dropped: float | None = Field(description="Packets in the step")
    share: float | None
    fair_share: float | None
    kept_s: Seconds
    broken_s: Seconds
    unknown_s: Seconds
    not_promised_s: Seconds
    aggressor_s: Seconds


class BrokenInterval(BaseModel):
    """One interval in which this VF suffered, or made others suffer."""

    at: datetime = Field(description="End of the interval")
    interval_s: Seconds
    estimated: bool = Field(description="The samples are more than 1.5 s apart; the whole interval counts")
    mechanism: MechanismName | None
    reason: str
    role: Literal["victim", "aggressor"]
    aggressors: list[Aggressor]
    victims: list[Victim]


class Holder(BaseModel):
    pod: Pod
    owner: str | None = Field(description=OWNER)
    labels: dict[str, str] = Field(description=LABELS)
    tenant: Tenant
    container: str | None
    since: datetime
    until: datetime | None = Field(description="Null: holds it now")


class VfHistory(VfIsolation):
    """A VF now, what it did in an interval, and who broke whose promise."""

    host: str
    pci: str
    at: datetime | None
    step_s: int
    series: list[VfPoint]
    broken: list[BrokenInterval] = Field(description="Newest first, at most 500")
    broken_total: int = Field(description="Intervals in which it suffered or made others suffer")
    holders: list[Holder] = Field(description="Newest first")
