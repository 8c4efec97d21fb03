"""Virtual functions of one RNIC with the containers that hold them."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row

from wallwatch.store.state import stale_after_s
from wallwatch_backend.fleet.rnics.service import identity_of
from wallwatch_backend.fleet.vfs import repository
from wallwatch_backend.fleet.vfs.schemas import HoldingContainer, VirtualFunction, VirtualFunctions
from wallwatch_backend.hosts.kubernetes.models import KubernetesPodRow
from wallwatch_backend.hosts.kubernetes.repository import pods_of
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession

MAX_AGE = timedelta(days=1)
"""Older samples are history; the longest sensible interval of a collector is minutes."""

_STATES = ("unbound", "host", "elsewhere", "passthrough", "other")
_PLAIN = (
    "vf", "driver", "tx_gbps", "rx_gbps", "tx_pps", "rx_pps", "drops_per_s", "tx_dropped", "rx_dropped", "max_tx_mbps", "min_tx_mbps",
    "vlan", "mac", "link_state", "operstate", "values_missing",
)  # fmt: skip


async def list_vfs(session: ReadSession, host: str, pci: str, sampling_interval_s: float) -> VirtualFunctions:
    identity = await identity_of(session, host, pci)
    since = clock.now() - MAX_AGE
    rows = await repository.newest(session, identity.rnic_id, since)
    counted = await repository.counts(session, identity.rnic_id, since)
    if counted is not None and rows and counted.time > rows[0].time:
        # Functions that were removed since their last sample are left out.
        rows = [row for row in rows if row.vf < counted.sriov_numvfs]
    holders = await repository.holders(session, host, [row.vf_pci for row in rows if row.vf_pci]) if rows else {}
    pods = await pods_of(session, [event["pod"] for _, event in holders.values() if event.get("pod")])
    return VirtualFunctions(
        at=max((row.time for row in rows), default=None),
        stale_after_s=stale_after_s(sampling_interval_s, refresh_s=0),  # read from the samples themselves
        numvfs=counted.sriov_numvfs if counted is not None else None,
        totalvfs=counted.sriov_totalvfs if counted is not None else None,
        items=[_present(row, holders.get(row.vf_pci), pods) for row in rows],
    )


def _present(row: Row[Any], holder: tuple[datetime, dict[str, Any]] | None, pods: Mapping[str, KubernetesPodRow]) -> VirtualFunction:
    return VirtualFunction(
        **{name: getattr(row, name) for name in _PLAIN},
        pci=row.vf_pci or None,
        representor=row.representor or None,
        netdev=row.netdev or None,
        state=row.state if row.state in _STATES else None,
        trust=_switched(row.trust),
        spoof_check=_switched(row.spoof_check),
        container=_container(*holder, pods) if holder is not None else None,
    )


def _switched(setting: str | None) -> bool | None:
    """Turn the collector's on and off into a bool.

    >>> [_switched(s) for s in ("on", "off", None)]
    [True, False, None]
    """
    return {"on": True, "off": False}.get(setting or "")


def _container(since: datetime, event: dict[str, Any], pods: Mapping[str, KubernetesPodRow]) -> HoldingContainer:
    pod = pods.get(event.get("pod") or "")
    return HoldingContainer(
        id=event.get("container"),
        pod=event.get("pod"),
        owner=pod.owner if pod is not None else None,
        labels=pod.labels if pod is not None else {},
        interface=event.get("interface"),
        addresses=[address for address in str(event.get("address") or "").split(",") if address],
        vxlan_network=event.get("vxlan_network"),
        since=since,
    )
