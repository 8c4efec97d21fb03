"""Virtual functions: newest sample, settings, container."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field


class HoldingContainer(BaseModel):
    id: str | None = Field(description="The runtime's id of the container")
    pod: str | None = Field(description="Namespace and name, where the runtime reported them")
    owner: str | None = Field(description="Kind and name of what runs the pod, such as Deployment/trainer, by Kubernetes")
    labels: dict[str, str] = Field(description="Of the pod, by Kubernetes; empty when Wallwatch may not read pods")
    interface: str | None = Field(description="Network interface inside the container")
    addresses: list[str]
    vxlan_network: int | None
    since: datetime = Field(description="Time of the CNI ADD")


class VirtualFunction(BaseModel):
    vf: int = Field(description="Number of the function on its RNIC")
    pci: str | None
    representor: str | None = Field(description="Its network device on the eSwitch")
    netdev: str | None = Field(description="Its own network device, while that is in the host's namespace")
    state: Literal["unbound", "host", "elsewhere", "passthrough", "other"] | None = Field(
        description="elsewhere: in another network namespace, that of a container; passthrough: assigned to a virtual machine or a program"
    )
    driver: str | None
    tx_gbps: float | None = Field(description="Mean rate sent since the previous sample, seen from the function")
    rx_gbps: float | None
    tx_pps: float | None
    rx_pps: float | None
    drops_per_s: float | None = Field(description="Packets dropped in both directions since the previous sample")
    tx_dropped: int | None = Field(description="Since the driver was loaded")
    rx_dropped: int | None
    max_tx_mbps: int | None = Field(description="0 is no limit")
    min_tx_mbps: int | None = Field(description="0 is no guarantee")
    vlan: int | None
    mac: str | None
    link_state: str | None = Field(description="auto (follows the port), enable or disable")
    trust: bool | None
    spoof_check: bool | None
    operstate: str | None = Field(description="State of the representor")
    values_missing: int | None = Field(description="Counters that could not be read")
    container: HoldingContainer | None = Field(
        description="The container that it is assigned to, by the events of the CNI chain; null for none or when unknown"
    )


class VirtualFunctions(BaseModel):
    at: datetime | None = Field(description="Time of the newest sample of the functions; null when there is none")
    stale_after_s: float = Field(description="When `at` is older, the functions are stale")
    numvfs: int | None = Field(description="Functions that exist, from the newest sample of the RNIC")
    totalvfs: int | None = Field(description="Functions that the device supports")
    items: list[VirtualFunction] = Field(description="By number")
