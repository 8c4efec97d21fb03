"""Nodes as the API server describes them: pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from wallwatch_backend.cluster import nvsentinel
from wallwatch_backend.cluster import taints as tainting
from wallwatch_backend.cluster.conditions import CONDITION

ZONE, INSTANCE_TYPE = "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type"


@dataclass
class Node:
    """What of a node matters here, as last read or written."""

    name: str
    uid: str
    version: str
    labels: Mapping[str, str] = field(default_factory=dict)
    condition: Mapping[str, Any] | None = None
    taints: tainting.Taints = ()
    unschedulable: bool = False
    reports: tuple[nvsentinel.Report, ...] = ()
    """What NVSentinel says of it."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "Node":
        metadata, spec = document["metadata"], document.get("spec") or {}
        conditions = (document.get("status") or {}).get("conditions") or []
        return cls(
            name=metadata["name"],
            uid=metadata["uid"],
            version=metadata["resourceVersion"],
            labels=metadata.get("labels") or {},
            condition=next((each for each in conditions if each.get("type") == CONDITION), None),
            taints=spec.get("taints") or (),
            unschedulable=bool(spec.get("unschedulable")),
            reports=nvsentinel.reports_of(document),
        )

    @property
    def tainted(self) -> bool:
        return tainting.present(self.taints)

    def row(self, at: datetime) -> dict[str, object]:
        """Return the node as the table keeps it."""
        condition = self.condition or {}
        return {
            "host": self.name,
            "zone": self.labels.get(ZONE),
            "instance_type": self.labels.get(INSTANCE_TYPE),
            "labels": dict(self.labels),
            "healthy": condition.get("status"),
            "reason": condition.get("reason"),
            "tainted": self.tainted,
            "unschedulable": self.unschedulable,
            "read_at": at,
        }
